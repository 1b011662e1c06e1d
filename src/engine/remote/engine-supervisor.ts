import { EngineBreakingError } from '../../errors.js';
import type { Timers } from '../../timers.js';
import type { IsolationPurpose } from '../process/isolation-run.js';
import type { ChildCallOptions } from '../process/pending-calls.js';
import { Supervisor, type AccountRecord, type Launch } from '../process/supervisor.js';
import type { Death } from '../process/worker-process.js';
import type { EngineInfo, EngineLoad, WorkOrigin } from '../types.js';
import type { EngineCalls, EngineReport, Measurement } from './engine-calls.js';

export interface EngineProcessObserver {
  /** One has died, or had to be ended, with these requests in it. */
  engineDied(death: Death & { requestIds: string[] }): void;
  /** Its process died each time, at last with nothing else in it. */
  engineRefused(origin: WorkOrigin | undefined): void;
  measured(measurement: Measurement): void;
}

export interface EngineSupervisorOptions extends Launch {
  observer: EngineProcessObserver;
  isolation?: (purpose: IsolationPurpose) => Launch;
  accounts?: AccountRecord;
  /** Called when the process that serves has become ready, or is gone. */
  changed?: () => void;
  timers?: Timers;
  isStopped?: (pid: number | undefined) => boolean;
}

/**
 * Its event loop never stops for long once it is ready. Its memory is the kernel's to limit: it is as large as its
 * models.
 */
const LIMITS = { periodMs: 500, silentPingsBeforeReady: 240, silentPings: 20, memoryBytes: Infinity };

const NO_LOAD = { slots: 0, busySlots: 0, windowsInFlight: 0, queuedWindows: 0 };

/** The process of the engines on one device; one always serves. */
export class EngineSupervisor {
  readonly #supervisor: Supervisor<EngineCalls>;
  #load: EngineLoad = { ...NO_LOAD, realTimeFactor: 1 };

  constructor({ observer, changed, ...options }: EngineSupervisorOptions) {
    this.#supervisor = new Supervisor<EngineCalls>({
      ...{ ...options, name: 'the engine', limits: LIMITS, fatalError: () => new EngineBreakingError() },
      observer: {
        died: (death) => observer.engineDied(death),
        convicted: (origin) => observer.engineRefused(origin),
        report: (report, isServing) => {
          const { load, measurements } = report as EngineReport;
          if (isServing) this.#load = load;
          for (const measurement of measurements) observer.measured(measurement);
        },
        changed: () => changed?.(),
      },
    });
  }

  /** As Supervisor.start(). */
  async start(): Promise<EngineInfo> {
    return (await this.#supervisor.start()) as EngineInfo;
  }

  /** As Supervisor.call(). */
  call<Name extends keyof EngineCalls>(
    name: Name,
    options: ChildCallOptions<EngineCalls[Name]>,
  ): Promise<EngineCalls[Name]['answer']> {
    return this.#supervisor.call(name, options);
  }

  /** Of the process that serves; while there is none, no slots, and the speed that it had. */
  get load(): EngineLoad {
    return this.isServing ? this.#load : { ...NO_LOAD, realTimeFactor: this.#load.realTimeFactor };
  }

  get pid(): number | null {
    return this.#supervisor.pid;
  }

  get isServing(): boolean {
    return this.#supervisor.isServing;
  }

  /** As Supervisor.isResting. */
  get isResting(): boolean {
    return this.#supervisor.isResting;
  }

  failWaiting(error: () => Error): void {
    this.#supervisor.failWaiting(error);
  }

  /** As Supervisor.close(). */
  close(): Promise<void> {
    return this.#supervisor.close();
  }
}
