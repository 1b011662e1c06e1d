import type { Timer, Timers } from './timers.js';

export interface PauseBounds {
  firstMs: number;
  longestMs: number;
  /** Factor from one pause to the next; default: 2. */
  growth?: number;
}

/** Of a process that is started again. */
const OF_A_START: PauseBounds = { firstMs: 1000, longestMs: 30_000 };

/** Before the attempt that follows the first failed one and `repeats` more, milliseconds. */
export function pauseAfter(repeats: number, { firstMs, longestMs, growth = 2 }: PauseBounds): number {
  return Math.min(longestMs, firstMs * growth ** repeats);
}

/** How long to wait between attempts that fail: each time longer than before. */
export class PauseLength {
  #repeats = 0;

  constructor(private readonly bounds: PauseBounds) {}

  next(): number {
    return pauseAfter(this.#repeats++, this.bounds);
  }

  reset(): void {
    this.#repeats = 0;
  }
}

/** Between attempts that fail, each longer than the one before. */
export class GrowingPause {
  #timer: Timer | null = null;
  readonly #length: PauseLength;

  constructor(
    private readonly timers: Timers,
    bounds: PauseBounds = OF_A_START,
  ) {
    this.#length = new PauseLength(bounds);
  }

  get isRunning(): boolean {
    return this.#timer !== null;
  }

  /** `mostMs`: this one is no longer, however many have failed. */
  begin(over: () => void, mostMs = Infinity): void {
    this.#timer?.cancel();
    this.#timer = this.timers.after(Math.min(this.#length.next(), mostMs), () => {
      this.#timer = null;
      over();
    });
  }

  /** Nothing fails any more: the next one is the first again. */
  end(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#length.reset();
  }
}

/** Pauses of many callers; all of them can be cut short. */
export class Pauses {
  readonly #running = new Set<() => void>();

  constructor(private readonly timers: Timers) {}

  pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      let timer: Timer | null = null;
      const wake = (): void => {
        timer?.cancel();
        this.#running.delete(wake);
        resolve();
      };
      timer = this.timers.after(milliseconds, wake);
      this.#running.add(wake);
    });
  }

  /** Ends the pauses that run. */
  wake(): void {
    for (const wake of this.#running) wake();
  }
}
