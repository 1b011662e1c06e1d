/** How often the running utterance is decoded again. */

const SHORTEST_MS = 300;
const LONGEST_MS = 2000;
/** Partial results of a session take at most one part in so many of the time. */
const SHARE = 4;
/** A partial result that takes longer than this shows that there is no room for any. */
const TOO_SLOW_MS = 2000;
/** Then so much time passes before the next try. */
const PAUSE_MS = 10_000;
/** Of the room of final results, the part that is free: with less, partial results come less often. */
const SCARCE_ROOM = 0.5;
/** With less, none comes. New sessions are refused only when there is no room at all. */
const LEAST_ROOM = 0.1;

export class PartialPace {
  #notBefore = 0;

  /** Whether one may begin now, on the clock of `now`. */
  isDue(now: number): boolean {
    return now >= this.#notBefore;
  }

  /** Whether there is room for the one that is due; if not, the next one is due later. */
  hasRoom(room: number, now: number): boolean {
    if (room >= LEAST_ROOM) return true;
    this.#notBefore = now + LONGEST_MS;
    return false;
  }

  /** One took so long, from its request to its result. Returns whether that was too slow to go on at once. */
  took(milliseconds: number, room: number, now: number): boolean {
    const isTooSlow = milliseconds > TOO_SLOW_MS;
    const usual = Math.max(SHORTEST_MS, SHARE * milliseconds - milliseconds);
    const wait = Math.min(LONGEST_MS, usual * Math.max(1, SCARCE_ROOM / room));
    this.#notBefore = now + (isTooSlow ? PAUSE_MS : wait);
    return isTooSlow;
  }

  /** Of a result that was given up for the final one. */
  gaveUp(now: number): void {
    this.#notBefore = Math.max(this.#notBefore, now + SHORTEST_MS);
  }
}
