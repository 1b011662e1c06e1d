import { GrowingPause } from '../../growing-pause.js';
import type { Timers } from '../../timers.js';
import { isUnreachable } from './database-failure.js';

const PAUSE = { firstMs: 50, longestMs: 1_000 };
/** A statement that was given up may arrive at the database, and be done, as long after. */
const AFTERMATH_MS = 60_000;

interface Undone {
  work: () => Promise<void>;
  /** Done again and again until then, however often it succeeds; null: until it succeeds. */
  until: number | null;
}

/**
 * What must be undone but cannot be just now, as sqlite/deferred-undo.ts says. It is tried again until it is done, or
 * until the ledger closes, after which the lease of its server ends it.
 */
export class PostgresDeferredUndo {
  #undone: Undone[] = [];
  readonly #pause: GrowingPause;
  #trying: Promise<void> | null = null;
  #ended = false;

  constructor(
    timers: Timers,
    private readonly onError: (error: unknown) => void,
  ) {
    this.#pause = new GrowingPause(timers, PAUSE);
  }

  /** Does it now if it can be done now; else it is done later. */
  async undo(work: () => Promise<void>): Promise<void> {
    if (this.#ended) return;
    try {
      await work();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      this.onError(error);
      this.#owe({ work, until: null });
    }
  }

  /** Of a call that may still be done. */
  forAWhile(work: () => Promise<void>): void {
    if (!this.#ended) this.#owe({ work, until: performance.now() + AFTERMATH_MS });
  }

  async end(): Promise<void> {
    this.#ended = true;
    this.#pause.end();
    await this.#trying;
  }

  #owe(undone: Undone): void {
    this.#undone.push(undone);
    if (this.#trying === null) this.#schedule();
  }

  #schedule(): void {
    if (!this.#ended && !this.#pause.isRunning) this.#pause.begin(() => this.#tryAgain());
  }

  #tryAgain(): void {
    this.#trying = this.#doWhatCanBe().then(() => {
      this.#trying = null;
      if (this.#undone.length === 0) this.#pause.end();
      else this.#schedule();
    });
  }

  async #doWhatCanBe(): Promise<void> {
    const again: Undone[] = [];
    const due = this.#undone;
    this.#undone = [];
    for (const undone of due) {
      if (this.#ended || (await this.#isToBeDoneAgain(undone))) again.push(undone);
    }
    this.#undone.push(...again);
  }

  async #isToBeDoneAgain({ work, until }: Undone): Promise<boolean> {
    try {
      await work();
      return until !== null && performance.now() < until;
    } catch (error) {
      this.onError(error);
      return isUnreachable(error); // no further try would help another error
    }
  }
}
