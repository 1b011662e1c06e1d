import type { Timer, Timers } from '../../timers.js';

const FIRST_MS = 1000;
const LAST_MS = 30_000;

/** Between attempts that fail, each twice as long as the one before. */
export class GrowingPause {
  #timer: Timer | null = null;
  #nextMs = FIRST_MS;

  constructor(private readonly timers: Timers) {}

  get isRunning(): boolean {
    return this.#timer !== null;
  }

  begin(over: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.timers.after(this.#nextMs, () => {
      this.#timer = null;
      over();
    });
    this.#nextMs = Math.min(2 * this.#nextMs, LAST_MS);
  }

  /** Nothing fails any more: the next one is the first again. */
  end(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#nextMs = FIRST_MS;
  }
}
