/**
 * Which work is repeated where, when the process that it was in dies. What was in the serving process at one death goes into the next; what has
 * come no further until a second one is suspected, and tried in a process apart: all suspects of a death together, then half of them, and
 * so on, until one is alone. Only what died alone is guilty. So whatever else is served shares a process with a deadly item twice at most, and
 * n suspects take some 2 log n trials for each that is guilty among them.
 */

/** Deaths of the serving process after which what was in it is suspected. */
const DEATHS = 2;

interface Trial<T> {
  /** Those that have not ended. */
  readonly left: Set<T>;
  /** Since it began. */
  readonly isAlone: boolean;
  /** What has come further in it. */
  readonly further: Set<T>;
}

export class Suspects<T> {
  readonly #deaths = new Map<T, number>();
  /** To be tried, in this order. */
  readonly #batches: T[][] = [];
  #trial: Trial<T> | null = null;
  /** The batch of those that came as suspects, until it is on trial. */
  #accused: T[] | null = null;

  /** The serving process has died with these in it. The ones that the next is to repeat; the others are suspects from now on. */
  servingDied(lost: readonly T[]): T[] {
    for (const item of lost) this.#deaths.set(item, (this.#deaths.get(item) ?? 0) + 1);
    const isSuspect = (item: T): boolean => (this.#deaths.get(item) ?? 0) >= DEATHS;
    const suspects = lost.filter(isSuspect);
    if (suspects.length > 0) this.#batches.push(suspects);
    return lost.filter((item) => !isSuspect(item));
  }

  /** A process elsewhere has died with it; tried with those that came before it in the same way. */
  accuse(item: T): void {
    if (this.#accused !== null && this.#batches.includes(this.#accused)) this.#accused.push(item);
    else this.#batches.push((this.#accused = [item]));
  }

  /** Some of its work is done for good: earlier deaths were not of what is left of it. */
  cameFurther(item: T): void {
    if (this.#trial?.left.has(item) === true) this.#trial.further.add(item);
    else this.#deaths.delete(item);
  }

  /** Nobody waits for it any more. */
  ended(item: T): void {
    this.#deaths.delete(item);
    this.#trial?.left.delete(item);
  }

  /** Whether anything is on trial, or will be. `isWaited`: for whether somebody waits for the item still. */
  hasAny(isWaited: (item: T) => boolean): boolean {
    return (this.#trial?.left.size ?? 0) > 0 || this.#batches.some((batch) => batch.some(isWaited));
  }

  /** What is to be put on trial now, all at once; null while something is, and when there is nothing. */
  next(isWaited: (item: T) => boolean): T[] | null {
    if ((this.#trial?.left.size ?? 0) > 0) return null;
    for (let batch = this.#batches.shift(); batch !== undefined; batch = this.#batches.shift()) {
      const left = batch.filter(isWaited);
      if (left.length === 0) continue;
      this.#trial = { left: new Set(left), isAlone: left.length === 1, further: new Set() };
      return left;
    }
    this.#trial = null;
    return null;
  }

  /** The process of the trial has died. The one that is guilty, if any is; the others will be tried again. */
  trialDied(): T | null {
    const trial = this.#trial;
    this.#trial = null;
    const left = [...(trial?.left ?? [])];
    const [first] = left;
    if (trial === null || first === undefined) return null;
    if (trial.isAlone && !trial.further.has(first)) {
      this.#deaths.delete(first);
      return first;
    }
    const middle = Math.ceil(left.length / 2);
    const halves = [left.slice(0, middle), left.slice(middle)].filter((half) => half.length > 0);
    this.#batches.unshift(...halves);
    return null;
  }

  /** All that are on trial or wait for one, which then are not any more: there is no process to try them in. */
  giveUp(): T[] {
    const all = [...(this.#trial?.left ?? []), ...this.#batches.flat()];
    this.#trial = null;
    this.#batches.splice(0);
    for (const item of all) this.#deaths.delete(item);
    return all;
  }
}
