import { EngineBreakingError } from '../../errors.js';
import type { Timers } from '../../timers.js';
import type { IsolationPurpose } from '../process/isolation-run.js';
import type { ChildCallOptions } from '../process/pending-calls.js';
import { Supervisor, type AccountRecord, type Launch } from '../process/supervisor.js';
import type { Death } from '../process/worker-process.js';
import type { EngineInfo, EngineLoad, WorkOrigin } from '../types.js';
import type { EngineCalls, EngineNotice, EngineReport, Measurement } from './engine-calls.js';

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
  #notices = 0;
  #lanes: number | null = null;
  /** Those who wait until a notice is heeded, by its turn. */
  readonly #unheeded = new Map<EngineNotice['turn'], () => void>();

  constructor({ observer, changed, ...options }: EngineSupervisorOptions) {
    this.#supervisor = new Supervisor<EngineCalls>({
      ...{ ...options, name: 'the engine', limits: LIMITS, fatalError: () => new EngineBreakingError() },
      observer: {
        died: (death) => observer.engineDied(death),
        convicted: (origin) => observer.engineRefused(origin),
        report: (report, isServing) => {
          const { load, measurements, heeded } = report as EngineReport;
          if (isServing) this.#load = load;
          if (isServing && heeded !== undefined) this.#heeded(heeded);
          for (const measurement of measurements) observer.measured(measurement);
        },
        changed: () => {
          // What is not there works on no lane; the next one begins with the last notice.
          if (!this.isServing) this.#heeded(this.#notices);
          changed?.();
        },
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

  /** At most so many lanes of the process that serves work from now on; resolves when no more do. */
  limitLanes(lanes: number): Promise<void> {
    this.#lanes = lanes;
    return this.#notify(false);
  }

  /** Translation models that nobody uses are unloaded; resolves when they are. */
  unloadText(): Promise<void> {
    return this.#notify(true);
  }

  #notify(unloadsText: boolean): Promise<void> {
    const turn = ++this.#notices;
    this.#supervisor.notify({ lanes: this.#lanes, unloadsText, turn } satisfies EngineNotice);
    if (!this.isServing) return Promise.resolve();
    return new Promise((resolve) => this.#unheeded.set(turn, resolve));
  }

  /** This one, and those before it. */
  #heeded(turn: EngineNotice['turn']): void {
    for (const [one, resolve] of this.#unheeded) {
      if (one > turn) continue;
      this.#unheeded.delete(one);
      resolve();
    }
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
