/** For so long an observation counts half at most. */
const HALF_LIFE_SECONDS = 60;

/** How much of the time a session spoke lately. Times are in milliseconds of one clock. */
export class SpeechActivity {
  #speechSeconds = 0;
  #seconds = 0;
  #at: number;

  constructor(now: number) {
    this.#at = now;
  }

  /** So much speech came. Audio may come faster than real time: then there is more speech than time. */
  spoke(seconds: number, now: number): void {
    this.#pass(now);
    this.#speechSeconds += seconds;
  }

  /** Of the time until now, the longer ago the less. */
  observed(now: number): { speechSeconds: number; seconds: number } {
    this.#pass(now);
    return { speechSeconds: this.#speechSeconds, seconds: this.#seconds };
  }

  #pass(now: number): void {
    const passed = (now - this.#at) / 1000;
    const kept = 2 ** (-passed / HALF_LIFE_SECONDS);
    this.#speechSeconds *= kept;
    this.#seconds = this.#seconds * kept + (1 - kept) * (HALF_LIFE_SECONDS / Math.LN2);
    this.#at = now;
  }
}
