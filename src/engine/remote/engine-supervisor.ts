import { systemTimers, type Timers } from '../../timers.js';
import type { StartChild } from '../process/child.js';
import type { WorkOrigin } from '../types.js';
import type { EngineCalls, EngineInfo, EngineLoad, Measurement } from './engine-calls.js';
import { EngineChild, type Death, type EngineChildRole } from './engine-child.js';
import {
  PendingCalls,
  shuttingDown,
  unavailable,
  type EngineCall,
  type EngineCallOptions,
} from './pending-calls.js';
import { ServingProcess } from './serving-process.js';
import { Suspects } from './suspects.js';
import { TrialProcess } from './trial-process.js';

export interface EngineProcessObserver {
  /** One has died, or had to be ended, with these requests in it. */
  engineDied(death: Death & { requestIds: string[] }): void;
  /** Its process died each time, at last with nothing else in it. */
  engineRefused(origin: WorkOrigin | undefined): void;
  measured(measurement: Measurement): void;
}

/** How a process is started, and with what. */
export interface EngineLaunch {
  start: StartChild;
  settings: () => unknown;
}

export interface SupervisorOptions extends EngineLaunch {
  observer: EngineProcessObserver;
  /** How one is started for suspects; default: as the one that serves. */
  trial?: () => EngineLaunch;
  /** Hears that the process that serves has become ready, or is gone. */
  changed?: () => void;
  timers?: Timers;
  isStopped?: (pid: number | undefined) => boolean;
}

/**
 * The process that serves, and one beside it for suspects while there are any. What dies is started again, and what was in it is repeated;
 * see Suspects for what is not.
 */
export class EngineSupervisor {
  readonly #options: SupervisorOptions;
  readonly #timers: Timers;
  readonly #suspects = new Suspects<EngineCall>();
  readonly #calls: PendingCalls;
  readonly #serving: ServingProcess;
  readonly #trial: TrialProcess;
  #closing = false;
  #idle: (() => void)[] = [];

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#calls = new PendingCalls({
      suspected: (call) => this.#suspects.accuse(call),
      cameFurther: (call) => this.#suspects.cameFurther(call),
      settled: (call) => {
        this.#suspects.ended(call);
        this.#advance();
      },
    });
    this.#serving = new ServingProcess((role) => this.#child(role, options), this.#timers, {
      changed: () => {
        this.#advance();
        options.changed?.();
      },
      gone: (child, death) => this.#servingGone(child, death),
    });
    const make = (role: EngineChildRole): EngineChild => this.#child(role, options.trial?.() ?? options);
    this.#trial = new TrialProcess(
      { make, timers: this.#timers, suspects: this.#suspects, calls: this.#calls },
      {
        changed: () => this.#advance(),
        gone: (child, death) => this.#trialGone(child, death),
        refused: (origin) => this.#options.observer.engineRefused(origin),
      },
    );
  }

  /** Starts the first process. Rejects where it does not become ready, with what it says why; then nothing is left of it. */
  start(): Promise<EngineInfo> {
    const started = this.#serving.start();
    started.catch(() => (this.#closing = true));
    return started;
  }

  /**
   * Rejects with the signal's reason, with what the engine rejects with, or what CallControl.fail() was given; `internal_error` where it is
   * guilty of deaths; `overloaded` where too many wait, or no process can be started; `shutting_down` after close().
   */
  async call<Name extends keyof EngineCalls>(
    name: Name,
    options: EngineCallOptions<Name>,
  ): Promise<EngineCalls[Name]['answer']> {
    if (this.#closing) throw shuttingDown();
    if (this.#serving.isHopeless) throw unavailable();
    const answer = this.#calls.add(name, options);
    this.#advance();
    return answer;
  }

  get load(): EngineLoad {
    return this.#serving.load;
  }

  /** Of the process that serves; null while there is none. */
  get pid(): number | null {
    return this.#serving.pid;
  }

  get isServing(): boolean {
    return this.#serving.child !== null;
  }

  /** Whether its processes have died so fast that none is started for a while. */
  get isResting(): boolean {
    return this.#serving.isResting;
  }

  /** Rejects what waits for the process that serves: there is another engine to do it. */
  failWaiting(error: () => Error): void {
    this.#calls.failWaiting(error);
  }

  /** What waits or runs is finished first; new calls are refused. Resolves when no process is left. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#endIfIdle();
    if (this.#serving.isGone && this.#trial.isGone) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Whatever can be done now. */
  #advance(): void {
    if (this.#serving.child !== null) this.#calls.sendWaiting(this.#serving.child);
    this.#trial.advance();
    this.#endIfIdle();
  }

  #child(role: EngineChildRole, { start, settings }: EngineLaunch): EngineChild {
    const { observer, isStopped } = this.#options;
    const options = {
      ...{ start, settings: settings(), timers: this.#timers },
      ...(isStopped === undefined ? {} : { isStopped }),
    };
    return new EngineChild(options, {
      ...role,
      report: (report) => {
        role.report(report);
        for (const measurement of report.measurements) observer.measured(measurement);
      },
      call: (message) => this.#calls.hear(message),
    });
  }

  #servingGone(child: EngineChild, death: Death | null): void {
    const lost = this.#calls.lostIn(child);
    if (death !== null) this.#report(death, lost);
    this.#calls.repeat(this.#suspects.servingDied(lost));
    if (this.#serving.isHopeless) this.#calls.failWaiting(unavailable);
    this.#endIfIdle();
  }

  #trialGone(child: EngineChild, death: Death | null): void {
    const lost = this.#calls.lostIn(child);
    if (death !== null) this.#report(death, lost);
  }

  #report(death: Death, lost: readonly EngineCall[]): void {
    const requestIds = lost.flatMap(({ origin }) => origin?.requestId ?? []);
    this.#options.observer.engineDied({ ...death, requestIds });
  }

  #endIfIdle(): void {
    if (!this.#closing || this.#calls.size > 0) return;
    this.#serving.end();
    this.#trial.end();
    if (!this.#serving.isGone || !this.#trial.isGone) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
