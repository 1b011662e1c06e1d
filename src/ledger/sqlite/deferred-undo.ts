import { GrowingPause } from '../../growing-pause.js';
import type { Timers } from '../../timers.js';
import { isFailure } from './database.js';

const PAUSE = { firstMs: 5, longestMs: 1_000 };

/**
 * What must be undone but cannot be written just now. A failed request must not keep its credits because the disk was
 * full at that moment, and its client must not wait for them. It is tried again until it is written, or until the
 * ledger closes, which releases everything anyway.
 */
export class DeferredUndo {
  readonly #undone: (() => void)[] = [];
  readonly #pause: GrowingPause;
  #ended = false;

  constructor(
    timers: Timers,
    private readonly onError: (error: unknown) => void,
  ) {
    this.#pause = new GrowingPause(timers, PAUSE);
  }

  /** Does it now if it can be done now. */
  undo(work: () => void): void {
    if (this.#ended) return;
    try {
      work();
    } catch (error) {
      if (!isFailure(error)) throw error;
      this.onError(error);
      this.#undone.push(work);
      this.#schedule();
    }
  }

  end(): void {
    this.#ended = true;
    this.#pause.end();
  }

  #schedule(): void {
    if (!this.#pause.isRunning) this.#pause.begin(() => this.#tryAgain());
  }

  #tryAgain(): void {
    this.#doWhatCanBe();
    if (this.#undone.length > 0) this.#schedule();
    else this.#pause.end();
  }

  #doWhatCanBe(): void {
    try {
      for (let work = this.#undone[0]; work !== undefined; work = this.#undone[0]) {
        work();
        this.#undone.shift();
      }
    } catch (error) {
      this.onError(error);
      if (!isFailure(error)) this.#undone.shift(); // no further try would help it
    }
  }
}
