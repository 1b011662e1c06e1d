/** How often the running utterance is decoded again. */

const SHORTEST_MS = 300;
const LONGEST_MS = 2000;
/** Partial results of a session take at most one part in so many of the time. */
const SHARE = 4;
/** A partial result that takes longer than this shows that there is no room for any. */
const TOO_SLOW_MS = 2000;
/** Then so much time passes before the next try. */
const PAUSE_MS = 10_000;

export class PartialPace {
  #notBefore = 0;

  /** Whether one may begin now, on the clock of `now`. */
  isDue(now: number): boolean {
    return now >= this.#notBefore;
  }

  /** One took so long, from its request to its result. */
  took(milliseconds: number, now: number): void {
    const wait = milliseconds > TOO_SLOW_MS ? PAUSE_MS : SHARE * milliseconds - milliseconds;
    this.#notBefore = now + Math.max(SHORTEST_MS, milliseconds > TOO_SLOW_MS ? wait : Math.min(LONGEST_MS, wait));
  }

  /** Of a result that was given up for the final one. */
  gaveUp(now: number): void {
    this.#notBefore = Math.max(this.#notBefore, now + SHORTEST_MS);
  }
}
