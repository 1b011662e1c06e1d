/** Deadlines and periods, so that a test can let time pass as it likes. */
export interface Timers {
  /** Calls `run` once, `milliseconds` from now. */
  after(milliseconds: number, run: () => void): Timer;
  /** Calls `run` again and again; never keeps the process alive. */
  every(milliseconds: number, run: () => void): Timer;
  /** Milliseconds since some moment; never goes back. */
  now(): number;
}

export interface Timer {
  /** From now on the full time is left again. */
  restart(): void;
  /** Idempotent. */
  cancel(): void;
}

export const systemTimers: Timers = {
  after: (milliseconds, run) => timerOf(setTimeout(run, milliseconds)),
  every: (milliseconds, run) => timerOf(setInterval(run, milliseconds).unref()),
  now: () => performance.now(),
};

function timerOf(timeout: NodeJS.Timeout): Timer {
  return { restart: () => void timeout.refresh(), cancel: () => clearTimeout(timeout) };
}
