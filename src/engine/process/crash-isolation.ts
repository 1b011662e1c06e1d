/**
 * Decides where calls are repeated when the process that worked on them has crashed.
 *
 * After one crash of the serving process its calls are repeated in the next one. A request that was present at a second
 * crash, without a checkpoint in between, is isolated: its calls are repeated in isolation runs, in a process of their
 * own. Isolated requests of accounts without convictions go first, all in one run. When a run crashes, it is split by
 * account, the smallest first, and the calls of one account are bisected. A call that crashed a process alone is
 * guilty: it is refused, and its account convicted.
 *
 * So other requests share a process with a deadly one twice at most, and n isolated requests of an account take some 2
 * log n runs for each deadly one among them. Calls of isolated accounts never enter the serving process. Each has a run
 * for itself, when no isolated request waits for one.
 */

/** Crashes of the serving process after which a request is isolated. */
const CRASHES = 2;

export interface IsolationPolicy<T> {
  /** The same object for all calls of a request: crashes are counted by it. */
  requestOf(call: T): object;
  /** Null: nobody knows; those are taken for one account. */
  accountOf(call: T): string | null;
  /** Recent convictions of its account. */
  convictionsOf(call: T): number;
  /** Whether its account's calls run in isolation only. */
  isIsolated(call: T): boolean;
  /** Whether somebody waits for its answer. */
  isWaitedFor(call: T): boolean;
}

interface Run<T> {
  /** Calls that have not been answered. */
  readonly left: Set<T>;
  readonly isAlone: boolean;
  readonly isOfIsolated: boolean;
  /** Calls that had a checkpoint in it. */
  readonly advanced: Set<T>;
}

export class CrashIsolation<T> {
  readonly #crashes = new WeakMap<object, number>();
  /** Batches of isolated requests of accounts without convictions, in this order. */
  readonly #toBisect: T[][] = [];
  /** Batches of isolated requests of accounts with a conviction, each of one account. */
  readonly #convicted: T[][] = [];
  readonly #isolated: T[] = [];
  /** The batch of those that crashed a process elsewhere, until its run. */
  #accused: T[] | null = null;
  #run: Run<T> | null = null;

  constructor(private readonly policy: IsolationPolicy<T>) {}

  /** The serving process has crashed with these calls in it. The ones that the next process is to repeat. */
  servingCrashed(lost: readonly T[]): T[] {
    for (const request of new Set(lost.map((call) => this.policy.requestOf(call))))
      this.#crashes.set(request, (this.#crashes.get(request) ?? 0) + 1);
    const reachedLimit = (call: T): boolean => (this.#crashes.get(this.policy.requestOf(call)) ?? 0) >= CRASHES;
    const [isolated, others] = partition(lost, (call) => this.policy.isIsolated(call));
    const [crashedTwice, repeated] = partition(others, reachedLimit);
    this.#isolated.push(...isolated);
    if (crashedTwice.length > 0) this.#toBisect.push(crashedTwice);
    return repeated;
  }

  /** A process of another device has crashed with this call. All such calls share one isolation run. */
  accuse(call: T): void {
    if (this.#accused !== null && this.#toBisect.includes(this.#accused)) this.#accused.push(call);
    else this.#toBisect.push((this.#accused = [call]));
  }

  /** A call of an isolated account, which has not been sent to any process. */
  isolate(call: T): void {
    this.#isolated.push(call);
  }

  /** Some of its work is done for good. Earlier crashes were not caused by the work that is left. */
  checkpoint(call: T): void {
    if (this.#run?.left.has(call) === true) this.#run.advanced.add(call);
    else this.#crashes.delete(this.policy.requestOf(call));
  }

  /** It has been answered, or nobody waits for it any more. */
  ended(call: T): void {
    this.#run?.left.delete(call);
  }

  /** Whether a run is under way. */
  get isRunning(): boolean {
    return (this.#run?.left.size ?? 0) > 0;
  }

  /** Whether the run under way is one of an isolated account. */
  get isRunningIsolated(): boolean {
    return this.isRunning && this.#run?.isOfIsolated === true;
  }

  /** Whether requests wait for an isolation run that are not of an isolated account. */
  get hasCallsToBisect(): boolean {
    return [...this.#toBisect, ...this.#convicted].some((batch) =>
      batch.some((call) => this.policy.isWaitedFor(call) && !this.policy.isIsolated(call)),
    );
  }

  /** Whether anything waits for a run. */
  get hasWaiting(): boolean {
    return [...this.#toBisect, ...this.#convicted, this.#isolated].some((batch) =>
      batch.some((call) => this.policy.isWaitedFor(call)),
    );
  }

  /** The calls of the next run, to be sent all at once; null while there is one, or nothing waits. */
  next(): T[] | null {
    if (this.isRunning) return null;
    const toBisect = this.#nextToBisect() ?? this.#nextConvicted();
    const isolated = toBisect === null ? this.#nextIsolated() : null;
    const calls = toBisect ?? isolated;
    if (calls === null) return null;
    const isAlone = calls.length === 1;
    this.#run = { left: new Set(calls), isAlone, isOfIsolated: isolated !== null, advanced: new Set() };
    return calls;
  }

  /** The process of the run has crashed. The guilty call, if it is found; the others will have another run. */
  runCrashed(): T | null {
    const run = this.#run;
    this.#run = null;
    const left = [...(run?.left ?? [])];
    const [first] = left;
    if (run === null || first === undefined) return null;
    if (run.isAlone && !run.advanced.has(first)) return first;
    if (run.isOfIsolated) this.#isolated.unshift(...left);
    else this.#toBisect.unshift(...this.#split(left));
    return null;
  }

  /** The process of the run was ended, not because of a fault: its calls will have another run. */
  runInterrupted(): void {
    const run = this.#run;
    this.#run = null;
    if (run === null || run.left.size === 0) return;
    if (run.isOfIsolated) this.#isolated.unshift(...run.left);
    else this.#toBisect.unshift([...run.left]);
  }

  /** All calls that run or wait for a run, which then do not any more: no process can be had for them. */
  giveUp(): T[] {
    const waiting = [...this.#toBisect.splice(0).flat(), ...this.#convicted.splice(0).flat()];
    const all = [...(this.#run?.left ?? []), ...waiting, ...this.#isolated.splice(0)];
    this.#run = null;
    return all;
  }

  /** Moves calls of accounts that have been convicted since to their place. */
  #nextToBisect(): T[] | null {
    for (let batch = this.#toBisect.shift(); batch !== undefined; batch = this.#toBisect.shift()) {
      const waiting = batch.filter((call) => this.policy.isWaitedFor(call));
      const [convicted, clean] = partition(waiting, (call) => this.policy.convictionsOf(call) > 0);
      this.#convicted.push(...this.#byAccount(convicted));
      if (clean.length > 0) return clean;
    }
    return null;
  }

  #nextConvicted(): T[] | null {
    for (let batch = this.#convicted.shift(); batch !== undefined; batch = this.#convicted.shift()) {
      const waiting = batch.filter((call) => this.policy.isWaitedFor(call));
      const [isolated, left] = partition(waiting, (call) => this.policy.isIsolated(call));
      this.#isolated.push(...isolated);
      if (left.length > 0) return left;
    }
    return null;
  }

  #nextIsolated(): T[] | null {
    for (let call = this.#isolated.shift(); call !== undefined; call = this.#isolated.shift())
      if (this.policy.isWaitedFor(call)) return [call];
    return null;
  }

  #split(calls: readonly T[]): T[][] {
    const accounts = this.#byAccount(calls);
    if (accounts.length > 1) return accounts.sort((one, other) => one.length - other.length);
    const middle = Math.ceil(calls.length / 2);
    return [calls.slice(0, middle), calls.slice(middle)].filter((half) => half.length > 0);
  }

  #byAccount(calls: readonly T[]): T[][] {
    const accounts = new Map<string | null, T[]>();
    for (const call of calls) {
      const account = this.policy.accountOf(call);
      accounts.set(account, [...(accounts.get(account) ?? []), call]);
    }
    return [...accounts.values()];
  }
}

/** Those for which it is true, and the others. */
function partition<T>(items: readonly T[], isOfFirst: (item: T) => boolean): [T[], T[]] {
  const first: T[] = [];
  const second: T[] = [];
  for (const item of items) (isOfFirst(item) ? first : second).push(item);
  return [first, second];
}
