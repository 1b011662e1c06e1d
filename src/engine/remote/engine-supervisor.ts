import { EngineBreakingError } from '../../errors.js';
import type { Timers } from '../../timers.js';
import type { IsolationPurpose } from '../process/isolation-run.js';
import type { ChildCallOptions } from '../process/pending-calls.js';
import { Supervisor, type AccountRecord, type Launch } from '../process/supervisor.js';
import type { Death } from '../process/worker-process.js';
import type { EngineInfo, EngineLoad, WorkOrigin } from '../types.js';
import type { EngineCalls, EngineNotice, EngineReport, Measurement } from './engine-calls.js';

export interface EngineProcessObserver {
  /** A process has died, or had to be ended, with these requests in it. */
  engineDied(death: Death & { requestIds: string[] }): void;
  /** The request's process crashed each time, finally with no other request in it. */
  engineRefused(origin: WorkOrigin | undefined): void;
  measured(measurement: Measurement): void;
}

export interface EngineSupervisorOptions extends Launch {
  observer: EngineProcessObserver;
  isolation?: (purpose: IsolationPurpose) => Launch;
  accounts?: AccountRecord;
  /** Called when the serving process has become ready, or has ended. */
  changed?: () => void;
  timers?: Timers;
  isStopped?: (pid: number | undefined) => boolean;
}

/**
 * Once the process is ready, its event loop never stops for long. Its memory has no limit here: it depends on its
 * models, and the kernel limits it.
 */
const LIMITS = { periodMs: 500, silentPingsBeforeReady: 240, silentPings: 20, memoryBytes: Infinity };

const NO_LOAD = { slots: 0, busySlots: 0, windowsInFlight: 0, queuedWindows: 0 };

/** The process of the engines on one device. A process always serves. */
export class EngineSupervisor {
  readonly #supervisor: Supervisor<EngineCalls>;
  #load: EngineLoad = { ...NO_LOAD, realTimeFactor: 1 };
  #notices = 0;
  #lanes: number | null = null;
  /** Resolves the promises of notices that are not yet in effect, by their number. */
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
          // A process that is gone works on no lane, and the next one starts with the last notice.
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

  /** The load of the serving process. While there is none: no slots, and the last speed. */
  get load(): EngineLoad {
    return this.isServing ? this.#load : { ...NO_LOAD, realTimeFactor: this.#load.realTimeFactor };
  }

  /** Limits the lanes of the serving process. Resolves when no more lanes than that work. */
  limitLanes(lanes: number): Promise<void> {
    this.#lanes = lanes;
    return this.#notify(false);
  }

  /** Unloads translation models that nobody uses. Resolves when they are unloaded. */
  unloadText(): Promise<void> {
    return this.#notify(true);
  }

  #notify(unloadsText: boolean): Promise<void> {
    const turn = ++this.#notices;
    this.#supervisor.notify({ lanes: this.#lanes, unloadsText, turn } satisfies EngineNotice);
    if (!this.isServing) return Promise.resolve();
    return new Promise((resolve) => this.#unheeded.set(turn, resolve));
  }

  /** Marks this notice and the earlier ones as in effect. */
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
