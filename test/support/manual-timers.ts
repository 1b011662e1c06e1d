import type { Timer, Timers } from '../../src/timers.js';
import { until } from './until.js';

interface Pending {
  dueAt: number;
  milliseconds: number;
  periodic: boolean;
  run: () => void;
}

/** Timers whose time stands still until a test lets some of it pass. */
export class ManualTimers implements Timers {
  #now = 0;
  readonly #pending = new Set<Pending>();

  after(milliseconds: number, run: () => void): Timer {
    return this.#add(milliseconds, run, false);
  }

  every(milliseconds: number, run: () => void): Timer {
    return this.#add(milliseconds, run, true);
  }

  now(): number {
    return this.#now;
  }

  /** How many wait. */
  get pending(): number {
    return this.#pending.size;
  }

  /** What falls due meanwhile runs, the earliest first, each at its own time. */
  pass(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (let next = this.#nextBy(end); next !== undefined; next = this.#nextBy(end)) {
      this.#now = next.dueAt;
      if (next.periodic) next.dueAt += next.milliseconds;
      else this.#pending.delete(next);
      next.run();
    }
    this.#now = end;
  }

  /** Resolves when something waits for so many milliseconds. */
  untilWaiting(milliseconds: number): Promise<void> {
    return until(() => [...this.#pending].some((timer) => timer.milliseconds === milliseconds));
  }

  #add(milliseconds: number, run: () => void, periodic: boolean): Timer {
    const timer: Pending = { dueAt: this.#now + milliseconds, milliseconds, periodic, run };
    this.#pending.add(timer);
    return {
      restart: () => {
        timer.dueAt = this.#now + milliseconds;
      },
      cancel: () => this.#pending.delete(timer),
    };
  }

  #nextBy(end: number): Pending | undefined {
    const due = [...this.#pending].filter(({ dueAt }) => dueAt <= end);
    return due.sort((one, other) => one.dueAt - other.dueAt)[0];
  }
}
