import { VerbatimError } from '../../errors.js';
import { PauseLength, Pauses } from '../../growing-pause.js';
import type { Timers } from '../../timers.js';
import { isBusy } from './database.js';

const PAUSE = { firstMs: 1, longestMs: 100 };

/**
 * How a call waits while another process has the database's write lock: it tries again, and lets the event loop turn
 * meanwhile. SQLite's own waiting (busy_timeout) would stop the loop, and with it every other request.
 */
export class LockWait {
  readonly #calls = new Set<Promise<unknown>>();
  readonly #pauses: Pauses;
  #ended = false;

  constructor(timers: Timers) {
    this.#pauses = new Pauses(timers);
  }

  /**
   * Runs `work` until it meets no lock, with pauses of `timeoutMs` in all; the first time at once, within the call.
   * Then throws `overloaded`, and so it does when the waiting is ended.
   */
  async run<T>(work: () => T, timeoutMs: number): Promise<T> {
    const call = this.#untilUnlocked(work, timeoutMs);
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  /** Calls that wait try one last time; resolves when all have. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#pauses.wake();
    await Promise.allSettled(this.#calls);
  }

  async #untilUnlocked<T>(work: () => T, timeoutMs: number): Promise<T> {
    let left = timeoutMs;
    const length = new PauseLength(PAUSE);
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (left <= 0 || this.#ended) throw locked(error);
      }
      const pauseMs = length.next();
      await this.#pauses.pause(Math.min(pauseMs, left));
      left -= pauseMs;
    }
  }
}

function locked(cause: unknown): VerbatimError {
  return new VerbatimError(
    'overloaded',
    'Another process keeps the database locked; nothing was changed. Try again shortly.',
    { retryAfterSeconds: 1, cause },
  );
}
