/** Pauses of the client: between two tries, and between two looks at a job. */
import { setTimeout as after } from 'node:timers/promises';

/** How a pause passes, until the signal aborts. */
export type Sleep = (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;

const timer: Sleep = (milliseconds, signal) => after(milliseconds, undefined, signal === undefined ? {} : { signal });

/** Doubles with each pause, up to `mostMs`. */
export class DoublingPause {
  #nextMs: number;

  constructor(
    firstMs: number,
    private readonly mostMs = Infinity,
    private readonly sleep: Sleep = timer,
  ) {
    this.#nextMs = firstMs;
  }

  /** How long the next one is; the one after it is twice as long. */
  next(): number {
    const milliseconds = Math.min(this.#nextMs, this.mostMs);
    this.#nextMs = 2 * milliseconds;
    return milliseconds;
  }

  /** Rejects with the signal's reason, as fetch does. */
  async pass(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    try {
      await this.sleep(milliseconds, signal);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  }
}
