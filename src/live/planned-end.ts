import type { VerbatimError } from '../errors.js';
import type { Timer, Timers } from '../timers.js';

/** For the last results of a session that has to end. */
const RESULTS_MS = 5000;

/** The end of a session that its client did not ask for: between utterances, and in any case in time. */
export class PlannedEnd {
  #error: VerbatimError | null = null;
  #timer: Timer | null = null;
  #isOverdue = false;

  constructor(private readonly timers: Timers) {}

  /** Once. `overdue`: called when a running utterance must end for its result to be there in so many milliseconds. */
  plan(error: VerbatimError, withinMs: number, overdue: () => void): void {
    this.#error = error;
    this.#timer = this.timers.after(Math.max(0, withinMs - RESULTS_MS), () => {
      this.#isOverdue = true;
      overdue();
    });
  }

  /** Whether even a running utterance must end. */
  get isOverdue(): boolean {
    return this.#isOverdue;
  }

  /** Why it must end now; null: it may go on. */
  due({ inUtterance }: { inUtterance: boolean }): VerbatimError | null {
    return this.#isOverdue || !inUtterance ? this.#error : null;
  }

  cancel(): void {
    this.#timer?.cancel();
  }
}
