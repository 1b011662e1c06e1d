import { VerbatimError } from '../../errors.js';
import type { Timers } from '../../timers.js';
import { isBusy } from './database.js';

const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 100;

/**
 * What a call does while another process has the database's write lock: it tries again, and lets the event loop turn
 * meanwhile. SQLite's own waiting (busy_timeout) would stop the loop, and with it every other request.
 */
export class LockWait {
  readonly #calls = new Set<Promise<unknown>>();
  readonly #wakeUps = new Set<() => void>();
  #ended = false;

  constructor(private readonly timers: Timers) {}

  /**
   * Runs `work` until it meets no lock, with pauses of `patienceMs` in all; the first time at once, within the call. Then
   * throws `overloaded`, and so it does when the waiting is ended.
   */
  async run<T>(work: () => T, patienceMs: number): Promise<T> {
    const call = this.#untilUnlocked(work, patienceMs);
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  /** Whoever waits tries one last time; resolves when all have. */
  async end(): Promise<void> {
    this.#ended = true;
    for (const wake of this.#wakeUps) wake();
    await Promise.allSettled(this.#calls);
  }

  async #untilUnlocked<T>(work: () => T, patienceMs: number): Promise<T> {
    let left = patienceMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (left <= 0 || this.#ended) throw locked(error);
      }
      await this.#pause(Math.min(pauseMs, left));
      left -= pauseMs;
    }
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        timer.cancel();
        this.#wakeUps.delete(wake);
        resolve();
      };
      const timer = this.timers.after(milliseconds, wake);
      this.#wakeUps.add(wake);
    });
  }
}

function locked(cause: unknown): VerbatimError {
  return new VerbatimError(
    'overloaded',
    'Another process keeps the database locked; nothing was changed. Try again shortly.',
    { retryAfterSeconds: 1, cause },
  );
}
