/** Time as the engine sees it, so that tests can hold it. */
export interface Clock {
  /** Milliseconds, monotonic. */
  now(): number;
  sleep(milliseconds: number): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  // Unreferenced: a pause of the engine never keeps the process alive.
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds).unref()),
};
