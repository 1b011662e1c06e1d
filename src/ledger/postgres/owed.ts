import type { Timer, Timers } from '../../timers.js';
import { isUnreachable } from './trouble.js';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** A statement that was given up may arrive at the database, and be done, as long after. */
const AFTERMATH_MS = 60_000;

interface Undone {
  work: () => Promise<void>;
  /** Done again and again until then, however often it succeeds; null: until it succeeds. */
  until: number | null;
}

/**
 * What must be undone but cannot be just now, as sqlite/owed.ts says. It is tried again until it is done, or until the ledger closes,
 * after which the lease of its server ends it.
 */
export class PostgresOwed {
  #undone: Undone[] = [];
  #pauseMs = FIRST_PAUSE_MS;
  #timer: Timer | null = null;
  #trying: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(
    private readonly timers: Timers,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Does it now if it can be done now; else it is owed. */
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
    this.#timer?.cancel();
    await this.#trying;
  }

  #owe(undone: Undone): void {
    this.#undone.push(undone);
    this.#timer ??= this.timers.after(this.#pauseMs, () => this.#tryAgain());
  }

  #tryAgain(): void {
    this.#trying = this.#doWhatCanBe().then(() => {
      this.#timer = null;
      this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
      if (this.#undone.length === 0) this.#pauseMs = FIRST_PAUSE_MS;
      else if (!this.#ended) this.#timer = this.timers.after(this.#pauseMs, () => this.#tryAgain());
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
