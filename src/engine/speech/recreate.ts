import { PauseLength } from '../../growing-pause.js';
import type { Clock } from '../clock.js';

const PAUSE = { firstMs: 1000, longestMs: 30_000 };

export interface RecreateOptions<T> {
  make: () => Promise<T>;
  /** Asked before each attempt. */
  isWanted: () => boolean;
  clock: Clock;
}

/** Makes a native object again that failed, until it succeeds: memory that is short now may be free later. */
export async function recreate<T>({ make, isWanted, clock }: RecreateOptions<T>): Promise<T | null> {
  const length = new PauseLength(PAUSE);
  while (isWanted()) {
    try {
      return await make();
    } catch {
      await clock.sleep(length.next());
    }
  }
  return null;
}
