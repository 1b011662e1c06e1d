import { IdleSignal } from '../../idle-signal.js';
import { systemTimers, type Timer, type Timers } from '../../timers.js';
import type { WorkOrigin } from '../types.js';
import { CrashIsolation } from './crash-isolation.js';
import type { StartChild } from './child.js';
import { IsolationRun, type IsolationPurpose } from './isolation-run.js';
import type { CallTable } from './messages.js';
import {
  PendingCalls,
  ProcessUnavailable,
  shuttingDown,
  type ChildCallOptions,
  type PendingCall,
} from './pending-calls.js';
import { ServingWorker } from './serving-worker.js';
import { WorkerProcess, type Death, type WorkerLimits, type WorkerRole } from './worker-process.js';

/** How to start a process, and its settings. */
export interface Launch {
  start: StartChild;
  settings: () => unknown;
}

export interface SupervisorObserver {
  /** A process has died, or had to be ended, with these requests in it. Not called after an idle end or close(). */
  died?(death: Death & { requestIds: string[] }): void;
  /** The call's process crashed each time, finally with no other call in it. */
  convicted?(origin: WorkOrigin | undefined): void;
  /** `isServing`: whether the report is the serving process's, not an isolation run's. */
  report?(report: unknown, isServing: boolean): void;
  /** The serving process has become ready, or has ended. */
  changed?(): void;
}

export interface SupervisorOptions extends Launch {
  /** The process's name in messages: "the engine". */
  name: string;
  limits: WorkerLimits;
  /** Makes the error for a call that crashed its process. `how`: as in Death. */
  fatalError: (how: string) => Error;
  observer?: SupervisorObserver;
  /**
   * After this many milliseconds without a call, the process is ended. The next call starts another. Default: there is
   * always a process, from start() on.
   */
  idleMs?: number | undefined;
  /** How a process for isolation runs is started. Default: like the serving process. */
  isolation?: (purpose: IsolationPurpose) => Launch;
  /** Which accounts crash processes. Default: unknown. */
  accounts?: AccountRecord | undefined;
  timers?: Timers | undefined;
  isStopped?: ((pid: number | undefined) => boolean) | undefined;
  memoryOf?: ((pid: number | undefined) => number | null) | undefined;
}

export interface AccountRecord {
  /** Recent convictions of the account. */
  convictionsOf(origin: WorkOrigin): number;
  /** Whether calls of this origin run in isolation only. */
  isIsolated(origin: WorkOrigin): boolean;
}

/**
 * A child process that answers calls, and a second one for isolation runs while calls wait for them. A process that
 * dies is restarted, and its calls are repeated; CrashIsolation decides where.
 */
export class Supervisor<Calls extends CallTable> {
  readonly #options: SupervisorOptions;
  readonly #timers: Timers;
  readonly #isolation: CrashIsolation<PendingCall>;
  readonly #calls: PendingCalls;
  readonly #serving: ServingWorker;
  readonly #isolationRun: IsolationRun;
  #idle: Timer | null = null;
  #notice: { value: unknown } | null = null;
  #closing = false;
  #resting: (() => void)[] = [];
  readonly #gone = new IdleSignal(() => this.#serving.isGone && this.#isolationRun.isGone);

  constructor(options: SupervisorOptions) {
    const { name, idleMs } = options;
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#isolation = new CrashIsolation<PendingCall>({
      requestOf: (call) => call.origin ?? call,
      accountOf: ({ origin }) => origin?.accountId ?? null,
      convictionsOf: ({ origin }) => (origin === undefined ? 0 : (options.accounts?.convictionsOf(origin) ?? 0)),
      isIsolated: (call) => this.#isIsolated(call),
      isWaitedFor: ({ settled }) => !settled,
    });
    this.#calls = new PendingCalls(name, {
      added: (call, crashedElsewhere) => this.#added(call, crashedElsewhere),
      checkpoint: (call) => this.#isolation.checkpoint(call),
      settled: (call) => {
        this.#isolationRun.ended(call);
        this.#advance();
      },
    });
    this.#serving = new ServingWorker(
      {
        ...{ name, timers: this.#timers, make: (role) => this.#servingWorker(role) },
        ...(idleMs === undefined ? {} : { isNeeded: () => this.#calls.hasWaiting }),
      },
      {
        changed: () => this.#changed(),
        report: (report) => options.observer?.report?.(report, true),
        unfit: (error) => this.#unfit(error),
        hopeless: () => this.#calls.failWaiting(() => this.#unavailable()),
        gone: (worker, death) => this.#servingGone(worker, death),
      },
    );
    this.#isolationRun = new IsolationRun(
      {
        ...{ timers: this.#timers, isolation: this.#isolation, calls: this.#calls },
        unavailable: () => this.#unavailable(),
        make: (role, purpose) => this.#isolationWorker(role, purpose),
      },
      {
        changed: () => this.#advance(),
        gone: (worker, death) => this.#isolationGone(worker, death),
        convicted: (call, { how }) => this.#convict(call, how),
      },
    );
  }

  /**
   * Starts the first process. Resolves to its report when it is ready. Rejects with the reason if it does not become
   * ready; then no process is left. Not for a supervisor with `idleMs`, which starts its first process at the first
   * call.
   */
  start(): Promise<unknown> {
    const started = this.#serving.start();
    started.catch(() => (this.#closing = true));
    return started;
  }

  /**
   * Rejects with the signal's reason, with the error that the process answers, or with
   *
   * - `fatalError`: the call crashed its process;
   * - `overloaded`: too many calls wait, or no process can be started;
   * - `shutting_down`: after close().
   */
  async call<Name extends keyof Calls & string>(
    name: Name,
    options: ChildCallOptions<Calls[Name]>,
  ): Promise<Calls[Name]['answer']> {
    if (this.#closing) throw shuttingDown();
    if (this.#serving.isHopeless) throw this.#unavailable();
    const answer = this.#calls.add(name, options);
    this.#advance();
    return answer;
  }

  /** The serving process's id; null: there is none. */
  get pid(): number | null {
    return this.#serving.pid;
  }

  /** The number of unanswered calls. */
  get pending(): number {
    return this.#calls.size;
  }

  get isServing(): boolean {
    return this.#serving.worker !== null;
  }

  /** Whether no process is started for a while, because the last ones died too fast. */
  get isResting(): boolean {
    return this.#serving.isResting;
  }

  /** Sends a notice to the serving process. Later processes get it when they start. */
  notify(value: unknown): void {
    this.#notice = { value };
    this.#serving.notify(value);
  }

  /**
   * Ends the serving process until the next call. Does nothing while there are calls. Only with `idleMs`. Resolves when
   * the process has ended.
   */
  async rest(): Promise<void> {
    if (this.#calls.size > 0 || this.#serving.isGone) return;
    const gone = new Promise<void>((resolve) => this.#resting.push(resolve));
    this.#serving.rest();
    await gone;
  }

  /** Rejects the calls that wait for the serving process. */
  failWaiting(error: () => Error): void {
    this.#calls.failWaiting(error);
  }

  /** Finishes the calls that wait or run, and refuses new ones. Resolves when no process is left. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#endIfClosing();
    await this.#gone.whenIdle();
  }

  /** Does whatever is possible now. */
  #advance(): void {
    this.#serving.startIfNeeded();
    if (this.#serving.worker !== null) this.#calls.sendWaiting(this.#serving.worker);
    this.#isolationRun.advance();
    this.#watchIdleness();
    this.#endIfClosing();
  }

  #changed(): void {
    this.#advance();
    this.#options.observer?.changed?.();
  }

  #isIsolated({ origin }: PendingCall): boolean {
    return origin !== undefined && this.#options.accounts?.isIsolated(origin) === true;
  }

  #added(call: PendingCall, crashedElsewhere: boolean): boolean {
    const isIsolated = this.#isIsolated(call);
    if (isIsolated) this.#isolation.isolate(call);
    else if (crashedElsewhere) this.#isolation.accuse(call);
    return isIsolated || crashedElsewhere;
  }

  #servingWorker(role: WorkerRole): WorkerProcess {
    const worker = this.#worker(role, this.#options);
    if (this.#notice !== null) worker.notify(this.#notice.value);
    return worker;
  }

  #worker(role: WorkerRole, { start, settings }: Launch): WorkerProcess {
    const { limits, isStopped, memoryOf } = this.#options;
    const options = { start, settings: settings(), limits, timers: this.#timers, isStopped, memoryOf };
    return new WorkerProcess(options, { ...role, call: (message) => this.#calls.receive(message) });
  }

  #isolationWorker(role: WorkerRole, purpose: IsolationPurpose): WorkerProcess {
    const { observer, isolation } = this.#options;
    const reporting = { ...role, report: (report: unknown) => observer?.report?.(report, false) };
    return this.#worker(reporting, isolation?.(purpose) ?? this.#options);
  }

  #servingGone(worker: WorkerProcess, death: Death | null): void {
    for (const resolve of this.#resting.splice(0)) resolve();
    const lost = this.#lostIn(worker, death);
    const isFault = death !== null && death.blames === null;
    this.#calls.repeat(isFault ? this.#isolation.servingCrashed(lost) : lost);
    this.#endIfClosing();
  }

  #isolationGone(worker: WorkerProcess, death: Death | null): void {
    this.#lostIn(worker, death);
  }

  /** The calls that were in the process and are to be repeated. The call that caused its end is left out. */
  #lostIn(worker: WorkerProcess, death: Death | null): PendingCall[] {
    const lost = this.#calls.lostIn(worker);
    if (death === null) return lost;
    const requestIds = lost.flatMap(({ origin }) => origin?.requestId ?? []);
    this.#options.observer?.died?.({ ...death, requestIds });
    const blamed = lost.find(({ id }) => id === death.blames);
    blamed?.settle({ error: this.#options.fatalError(death.how) });
    return lost.filter((call) => call !== blamed);
  }

  /** Removes the other calls of an account that is isolated from now on from the serving process. */
  #convict(call: PendingCall, how: string): void {
    const { observer, fatalError } = this.#options;
    observer?.convicted?.(call.origin);
    const isIsolated = (other: PendingCall): boolean => this.#isIsolated(other);
    for (const other of this.#calls.withdraw(isIsolated, this.#serving.worker)) this.#isolation.isolate(other);
    call.settle({ error: fatalError(how) });
  }

  /** Rejects waiting calls at once if a process that is started on demand cannot start. */
  #unfit(error: Error): void {
    if (this.#options.idleMs !== undefined) this.#calls.failWaiting(() => error);
  }

  #unavailable(): ProcessUnavailable {
    return new ProcessUnavailable(this.#options.name);
  }

  #watchIdleness(): void {
    const { idleMs } = this.#options;
    if (idleMs === undefined) return;
    if (this.#calls.size > 0 || this.#serving.worker === null) {
      this.#idle?.cancel();
      this.#idle = null;
      return;
    }
    this.#idle ??= this.#timers.after(idleMs, () => {
      this.#idle = null;
      this.#serving.rest();
    });
  }

  #endIfClosing(): void {
    if (!this.#closing || this.#calls.size > 0) return;
    this.#idle?.cancel();
    this.#serving.end();
    this.#isolationRun.end();
    this.#gone.check();
  }
}
