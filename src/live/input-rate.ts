/** How fast a session's audio is worked on: some seconds at once, then a multiple of real time. */

/** Times real time. */
const FASTEST = 4;
/** Seconds that may be worked on without a wait, after a time without audio. */
const BURST_SECONDS = 10;

export class InputRate {
  #allowance = BURST_SECONDS;
  #since: number;

  constructor(now: number) {
    this.#since = now;
  }

  /** Milliseconds until this much audio may be worked on; it then counts as worked on. `now`: milliseconds. */
  delayMs(seconds: number, now: number): number {
    const earned = ((now - this.#since) / 1000) * FASTEST;
    this.#allowance = Math.min(BURST_SECONDS, this.#allowance + earned) - seconds;
    this.#since = now;
    return this.#allowance >= 0 ? 0 : Math.ceil((-this.#allowance / FASTEST) * 1000);
  }
}
