import { GrowingPause } from '../../growing-pause.js';
import type { Timers } from '../../timers.js';
import type { CrashIsolation } from './crash-isolation.js';
import type { PendingCall, PendingCalls } from './pending-calls.js';
import { FRUITLESS_STARTS } from './serving-worker.js';
import type { Death, WorkerProcess, WorkerRole } from './worker-process.js';

export interface IsolationRunOptions {
  /** `isolated`: for calls of isolated accounts only. */
  make: (role: WorkerRole, purpose: IsolationPurpose) => WorkerProcess;
  timers: Timers;
  isolation: CrashIsolation<PendingCall>;
  calls: Pick<PendingCalls, 'send'>;
  unavailable: () => Error;
}

export type IsolationPurpose = 'bisect' | 'isolated';

export interface IsolationRunEvents {
  /** Calls may be able to go on now. */
  changed(): void;
  gone(worker: WorkerProcess, death: Death | null): void;
  /** The call's process crashed each time, finally with no other call in it. */
  convicted(call: PendingCall, death: Death): void;
}

/** The pauses between crashes of isolated accounts' calls. */
const ISOLATED_PAUSE = { firstMs: 1000, longestMs: 60_000 };

/** The process for isolation runs, beside the serving process. It exists while calls wait for such runs. */
export class IsolationRun {
  readonly #options: IsolationRunOptions;
  /** The pause after a process that did not start. */
  readonly #startPause: GrowingPause;
  /** The pause after a crash of an isolated account's call. */
  readonly #isolatedPause: GrowingPause;
  #worker: WorkerProcess | null = null;
  #fruitless = 0;

  constructor(
    options: IsolationRunOptions,
    private readonly events: IsolationRunEvents,
  ) {
    this.#options = options;
    this.#startPause = new GrowingPause(options.timers);
    this.#isolatedPause = new GrowingPause(options.timers, ISOLATED_PAUSE);
  }

  get isGone(): boolean {
    return this.#worker === null;
  }

  /** Does whatever is possible now. A call of an isolated account is interrupted if other isolated requests wait. */
  advance(): void {
    const { isolation, calls } = this.#options;
    if (isolation.isRunning) {
      if (isolation.isRunningIsolated && isolation.hasCallsToBisect) this.#worker?.end();
      return;
    }
    const purpose = this.#purpose();
    if (purpose === null) this.#worker?.end();
    else if (this.#worker === null) {
      if (!this.#startPause.isRunning) this.#begin(purpose);
    } else if (this.#worker.isServing) {
      for (const call of isolation.next() ?? []) calls.send(this.#worker, call);
    }
  }

  /** Called when a call was answered, or nobody waits for it any more. */
  ended(call: PendingCall): void {
    const { isolation } = this.#options;
    if (isolation.isRunningIsolated) this.#isolatedPause.end();
    isolation.ended(call);
  }

  end(): void {
    this.#startPause.end();
    this.#isolatedPause.end();
    this.#worker?.end();
  }

  /** The purpose of the process that is needed now. null: no process is needed. */
  #purpose(): IsolationPurpose | null {
    const { isolation } = this.#options;
    if (isolation.hasCallsToBisect) return 'bisect';
    return isolation.hasWaiting && !this.#isolatedPause.isRunning ? 'isolated' : null;
  }

  #begin(purpose: IsolationPurpose): void {
    const role: WorkerRole = {
      ready: () => {
        this.#fruitless = 0;
        this.events.changed();
      },
      unfit: () => undefined,
      gone: (death) => this.#gone(worker, death),
      report: () => undefined,
    };
    const worker: WorkerProcess = this.#options.make(role, purpose);
    this.#worker = worker;
  }

  #gone(worker: WorkerProcess, death: Death | null): void {
    const { isolation } = this.#options;
    this.#worker = null;
    this.events.gone(worker, death);
    if (!worker.isReady) this.#failed();
    else if (death === null || death.blames !== null) isolation.runInterrupted();
    else this.#judge(death);
    this.events.changed();
  }

  #judge(death: Death): void {
    const { isolation } = this.#options;
    if (isolation.isRunningIsolated) this.#isolatedPause.begin(() => this.events.changed());
    const guilty = isolation.runCrashed();
    if (guilty !== null) this.events.convicted(guilty, death);
  }

  #failed(): void {
    this.#fruitless += 1;
    this.#startPause.begin(() => this.events.changed());
    if (this.#fruitless < FRUITLESS_STARTS) return;
    this.#fruitless = 0;
    for (const call of this.#options.isolation.giveUp()) call.settle({ error: this.#options.unavailable() });
  }
}
