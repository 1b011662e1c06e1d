import type { Timers } from '../timers.js';

/** Resolves after this time, or when the signal aborts. */
export function pauseFor(milliseconds: number, timers: Timers, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = timers.after(milliseconds, done);
    signal.addEventListener('abort', done, { once: true });
  });
}
