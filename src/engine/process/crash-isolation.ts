/**
 * Decides where calls are repeated after the process that worked on them has crashed.
 *
 * After one crash of the serving process, its calls are repeated in the next one. A request that was present at a
 * second crash, without a checkpoint in between, is isolated: its calls are repeated in isolation runs, in a separate
 * process. Isolated requests of accounts without convictions go first, all in one run. When a run crashes, it is split
 * by account, the smallest first, and the calls of one account are bisected. A call that was alone in a process that
 * crashed is guilty: it is refused, and its account is convicted.
 *
 * So a request shares a process with a crashing request at most twice. The n isolated requests of an account take about
 * 2 log n runs for each crashing one among them. Calls of isolated accounts never enter the serving process. Each gets
 * a run of its own while no isolated request waits for one.
 */

/** Crashes of the serving process after which a request is isolated. */
const CRASHES = 2;

export interface IsolationPolicy<T> {
  /** Returns the same object for all calls of a request. Crashes are counted by this object. */
  requestOf(call: T): object;
  /** null: unknown. All calls of unknown accounts count as one account's. */
  accountOf(call: T): string | null;
  /** Recent convictions of the call's account. */
  convictionsOf(call: T): number;
  /** Whether all calls of this account run in isolation. */
  isIsolated(call: T): boolean;
  /** Whether somebody still waits for the answer. */
  isWaitedFor(call: T): boolean;
}

interface Run<T> {
  /** Calls without an answer. */
  readonly left: Set<T>;
  readonly isAlone: boolean;
  readonly isOfIsolated: boolean;
  /** Calls that had a checkpoint in this run. */
  readonly advanced: Set<T>;
}

export class CrashIsolation<T> {
  readonly #crashes = new WeakMap<object, number>();
  /** Batches of isolated requests of accounts without convictions, in this order. */
  readonly #toBisect: T[][] = [];
  /** Batches of isolated requests of accounts with a conviction, each of one account. */
  readonly #convicted: T[][] = [];
  readonly #isolated: T[] = [];
  /** The latest batch of calls that crashed a process of another device, until its run. */
  #accused: T[] | null = null;
  #run: Run<T> | null = null;

  constructor(private readonly policy: IsolationPolicy<T>) {}

  /** Called after the serving process crashed with these calls. Returns the calls that the next process repeats. */
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

  /** Called after a process of another device crashed with this call. All such calls share one isolation run. */
  accuse(call: T): void {
    if (this.#accused !== null && this.#toBisect.includes(this.#accused)) this.#accused.push(call);
    else this.#toBisect.push((this.#accused = [call]));
  }

  /** Adds a call of an isolated account that was not sent to any process. */
  isolate(call: T): void {
    this.#isolated.push(call);
  }

  /**
   * Called when a part of the work is done and will not be repeated. The work that is left did not cause earlier
   * crashes.
   */
  checkpoint(call: T): void {
    if (this.#run?.left.has(call) === true) this.#run.advanced.add(call);
    else this.#crashes.delete(this.policy.requestOf(call));
  }

  /** Called when the call was answered, or nobody waits for it any more. */
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

  /** Whether requests of accounts that are not isolated wait for a run. */
  get hasCallsToBisect(): boolean {
    return [...this.#toBisect, ...this.#convicted].some((batch) =>
      batch.some((call) => this.policy.isWaitedFor(call) && !this.policy.isIsolated(call)),
    );
  }

  /** Whether any call waits for a run. */
  get hasWaiting(): boolean {
    return [...this.#toBisect, ...this.#convicted, this.#isolated].some((batch) =>
      batch.some((call) => this.policy.isWaitedFor(call)),
    );
  }

  /** The calls of the next run, all to be sent at once. null: a run is under way, or nothing waits. */
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

  /**
   * Called after the run's process crashed. Returns the guilty call if it is found. The other calls get another run.
   */
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

  /** Called after the run's process was ended without a fault. Its calls get another run. */
  runInterrupted(): void {
    const run = this.#run;
    this.#run = null;
    if (run === null || run.left.size === 0) return;
    if (run.isOfIsolated) this.#isolated.unshift(...run.left);
    else this.#toBisect.unshift([...run.left]);
  }

  /** Removes and returns all calls that are in a run or wait for one, because no process can be started for them. */
  giveUp(): T[] {
    const waiting = [...this.#toBisect.splice(0).flat(), ...this.#convicted.splice(0).flat()];
    const all = [...(this.#run?.left ?? []), ...waiting, ...this.#isolated.splice(0)];
    this.#run = null;
    return all;
  }

  /**
   * The next batch of accounts without convictions. Calls of accounts that were convicted meanwhile are moved to
   * #convicted.
   */
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

/** Splits the items: those for which the function is true, and the others. */
function partition<T>(items: readonly T[], isOfFirst: (item: T) => boolean): [T[], T[]] {
  const first: T[] = [];
  const second: T[] = [];
  for (const item of items) (isOfFirst(item) ? first : second).push(item);
  return [first, second];
}
