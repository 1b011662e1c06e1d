import type { Timer, Timers } from './timers.js';

export interface PauseBounds {
  firstMs: number;
  longestMs: number;
}

/** Of a process that is started again. */
const OF_A_START: PauseBounds = { firstMs: 1000, longestMs: 30_000 };

/** Between attempts that fail, each twice as long as the one before. */
export class GrowingPause {
  #timer: Timer | null = null;
  #nextMs: number;

  constructor(
    private readonly timers: Timers,
    private readonly bounds = OF_A_START,
  ) {
    this.#nextMs = bounds.firstMs;
  }

  get isRunning(): boolean {
    return this.#timer !== null;
  }

  begin(over: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.timers.after(this.#nextMs, () => {
      this.#timer = null;
      over();
    });
    this.#nextMs = Math.min(2 * this.#nextMs, this.bounds.longestMs);
  }

  /** Nothing fails any more: the next one is the first again. */
  end(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#nextMs = this.bounds.firstMs;
  }
}
