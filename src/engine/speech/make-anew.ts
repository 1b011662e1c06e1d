import type { Clock } from '../clock.js';

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 30_000;

export interface MakingAnew<T> {
  make: () => Promise<T>;
  /** Asked before each attempt. */
  isWanted: () => boolean;
  clock: Clock;
}

/** In the place of something native that failed. Keeps trying: memory that another process holds now may be free later. */
export async function makeAnew<T>({ make, isWanted, clock }: MakingAnew<T>): Promise<T | null> {
  for (let pauseMs = FIRST_RETRY_MS; isWanted(); pauseMs = Math.min(2 * pauseMs, LAST_RETRY_MS)) {
    try {
      return await make();
    } catch {
      await clock.sleep(pauseMs);
    }
  }
  return null;
}
