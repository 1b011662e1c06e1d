import type { Timer, Timers } from '../../timers.js';
import { isTrouble } from './database.js';

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 1_000;

/**
 * What must be undone but cannot be written just now: a failed request must not keep its credits because the disk was
 * full at that moment, nor its client wait for them. It is tried again until it is written, or until the ledger closes,
 * which gives everything back by itself.
 */
export class Owed {
  readonly #undone: (() => void)[] = [];
  #pauseMs = FIRST_PAUSE_MS;
  #timer: Timer | null = null;
  #ended = false;

  constructor(
    private readonly timers: Timers,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Does it now if it can be done now. */
  undo(work: () => void): void {
    if (this.#ended) return;
    try {
      work();
    } catch (error) {
      if (!isTrouble(error)) throw error;
      this.onError(error);
      this.#undone.push(work);
      this.#schedule();
    }
  }

  end(): void {
    this.#ended = true;
    this.#timer?.cancel();
  }

  #schedule(): void {
    this.#timer ??= this.timers.after(this.#pauseMs, () => this.#tryAgain());
  }

  #tryAgain(): void {
    this.#timer = null;
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
    this.#doWhatCanBe();
    if (this.#undone.length > 0) this.#schedule();
    else this.#pauseMs = FIRST_PAUSE_MS;
  }

  #doWhatCanBe(): void {
    try {
      for (let work = this.#undone[0]; work !== undefined; work = this.#undone[0]) {
        work();
        this.#undone.shift();
      }
    } catch (error) {
      this.onError(error);
      if (!isTrouble(error)) this.#undone.shift(); // no further try would help it
    }
  }
}
