import { VerbatimError } from '../../errors.js';
import { systemTimers, type Timers } from '../../timers.js';
import type { StartChild } from '../process/child.js';
import { GrowingPause } from '../process/growing-pause.js';
import type { FromChild } from '../process/messages.js';
import { errorOf, type ToldError } from '../process/told-errors.js';
import type { WorkOrigin } from '../types.js';
import type { EngineCalls, EngineInfo, EngineLoad, Measurement } from './engine-calls.js';
import { EngineChild, type Death } from './engine-child.js';
import { Suspects } from './suspects.js';

export interface EngineProcessObserver {
  /** One has died, or had to be ended, with these requests in it. */
  engineDied(death: Death & { requestIds: string[] }): void;
  /** Its process died each time, at last with nothing else in it. */
  engineRefused(origin: WorkOrigin | undefined): void;
  measured(measurement: Measurement): void;
}

export interface SupervisorOptions {
  start: StartChild;
  /** What a process is started with. */
  settings: () => unknown;
  observer: EngineProcessObserver;
  timers?: Timers;
  isStopped?: (pid: number | undefined) => boolean;
}

/** What the asker of a call may do when he hears of its progress. */
export interface CallControl {
  /** Lets it go on. */
  proceed(): void;
  /** Rejects it, and stops it. */
  fail(error: unknown): void;
  /** Some of its work is done for good, and will not be repeated. */
  cameFurther(): void;
}

export interface EngineCallOptions<Name extends keyof EngineCalls> {
  origin: WorkOrigin | undefined;
  signal: AbortSignal | undefined;
  /** Asked each time that it is sent: what a repeat need not do again has been told meanwhile. */
  request: () => EngineCalls[Name]['request'];
  progress: (value: EngineCalls[Name]['progress'], call: CallControl) => void;
}

interface Call {
  readonly id: number;
  readonly name: string;
  readonly origin: WorkOrigin | undefined;
  request: () => unknown;
  progress: (value: unknown) => void;
  settle: (outcome: { value: unknown } | { error: unknown }) => void;
  /** Nobody waits for it any more. */
  settled: boolean;
  /** What works on it. */
  child: EngineChild | null;
}

/** Calls that wait or are worked on: each holds a request, and what is told of it. */
const MOST_CALLS = 4096;
/** Starts in a row that came to nothing: what waits is not kept waiting any longer. */
const FRUITLESS_STARTS = 3;
const RETRY_SECONDS = 5;

/** Nothing is loaded. */
const NO_LOAD = { slots: 0, busySlots: 0, windowsInFlight: 0, queuedWindows: 0 };

/**
 * The process that serves, and one beside it for suspects while there are any. What dies is started again, at once where it had answered
 * something, and what was in it is repeated; see Suspects for what is not.
 */
export class EngineSupervisor {
  readonly #options: SupervisorOptions;
  readonly #timers: Timers;
  readonly #calls = new Map<number, Call>();
  readonly #waiting = new Set<Call>();
  readonly #suspects = new Suspects<Call>();
  #nextId = 1;
  #serving: EngineChild | null = null;
  #trial: EngineChild | null = null;
  readonly #pause: GrowingPause;
  readonly #trialPause: GrowingPause;
  #fruitless = 0;
  #fruitlessTrials = 0;
  #load: EngineLoad | null = null;
  #realTimeFactor = 1;
  #closing = false;
  #idle: (() => void)[] = [];
  #firstError: Error | null = null;
  #firstReady: { resolve: (info: EngineInfo) => void; reject: (error: Error) => void } | null = null;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#pause = new GrowingPause(this.#timers);
    this.#trialPause = new GrowingPause(this.#timers);
  }

  /** Starts the first process. Rejects where it does not become ready, with what it says why; then nothing is left of it. */
  start(): Promise<EngineInfo> {
    const ready = new Promise<EngineInfo>((resolve, reject) => (this.#firstReady = { resolve, reject }));
    this.#startServing();
    return ready;
  }

  /**
   * Rejects with the signal's reason, with what the engine rejects with, or what CallControl.fail() was given; `internal_error` where it is
   * guilty of deaths; `overloaded` where too many wait, or no process can be started; `shutting_down` after close().
   */
  call<Name extends keyof EngineCalls>(
    name: Name,
    { origin, signal, request, progress }: EngineCallOptions<Name>,
  ): Promise<EngineCalls[Name]['answer']> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      this.#refuse();
      const aborted = (): void => control.fail(signal?.reason);
      const call: Call = {
        ...{ id: this.#nextId++, name, origin, request, settled: false, child: null },
        progress: (value) => progress(value as EngineCalls[Name]['progress'], control),
        settle: (outcome) => {
          if (call.settled) return;
          call.settled = true;
          signal?.removeEventListener('abort', aborted);
          this.#forget(call);
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- an abort's reason is whatever it is
          if ('error' in outcome) reject(outcome.error);
          else resolve(outcome.value as EngineCalls[Name]['answer']);
        },
      };
      const control: CallControl = {
        proceed: () => call.child?.send({ kind: 'proceed', id: call.id }),
        cameFurther: () => this.#suspects.cameFurther(call),
        fail: (error) => {
          call.child?.send({ kind: 'abort', id: call.id });
          call.settle({ error });
        },
      };
      signal?.addEventListener('abort', aborted, { once: true });
      this.#calls.set(call.id, call);
      this.#waiting.add(call);
      this.#advance();
    });
  }

  get load(): EngineLoad {
    const isServing = this.#serving?.isServing === true;
    return isServing && this.#load !== null
      ? this.#load
      : { ...NO_LOAD, realTimeFactor: this.#realTimeFactor };
  }

  /** Of the process that serves; null while there is none. */
  get pid(): number | null {
    return this.#serving?.pid ?? null;
  }

  /** What waits or runs is finished first; new calls are refused. Resolves when no process is left. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#endIfIdle();
    if (this.#serving === null && this.#trial === null) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #refuse(): void {
    if (this.#closing) throw new VerbatimError('shutting_down', 'The server is shutting down.');
    if (this.#fruitless >= FRUITLESS_STARTS) throw unavailable();
    if (this.#calls.size >= MOST_CALLS) throw overloaded('Too many requests wait for the engine.');
  }

  #forget(call: Call): void {
    this.#calls.delete(call.id);
    this.#waiting.delete(call);
    this.#suspects.ended(call);
    this.#advance();
  }

  /** Whatever can be done now. */
  #advance(): void {
    const serving = this.#serving;
    if (serving?.isServing === true) for (const call of this.#waiting) this.#send(serving, call);
    this.#advanceTrial();
    this.#endIfIdle();
  }

  #send(child: EngineChild, call: Call): void {
    this.#waiting.delete(call);
    call.child = child;
    child.calls.add(call.id);
    child.send({ kind: 'call', id: call.id, name: call.name, request: call.request() });
  }

  #advanceTrial(): void {
    const isWaited = ({ settled }: Call): boolean => !settled;
    if (!this.#suspects.hasAny(isWaited)) this.#trial?.end();
    else if (this.#trial === null) {
      if (!this.#trialPause.isRunning) this.#startTrial();
    } else if (this.#trial.isServing) {
      for (const call of this.#suspects.next(isWaited) ?? []) this.#send(this.#trial, call);
    }
  }

  #startServing(): void {
    const child: EngineChild = this.#child({
      ready: (info) => {
        this.#fruitless = 0;
        this.#firstReady?.resolve(info);
        this.#firstReady = null;
        this.#advance();
      },
      unfit: (error) => (this.#firstError = errorOf(error)),
      gone: (death) => this.#servingGone(child, death),
      report: ({ load }) => {
        this.#load = load;
        this.#realTimeFactor = load.realTimeFactor;
      },
    });
    this.#serving = child;
  }

  #startTrial(): void {
    const child: EngineChild = this.#child({
      ready: () => {
        this.#fruitlessTrials = 0;
        this.#advance();
      },
      unfit: () => undefined,
      gone: (death) => this.#trialGone(child, death),
      report: () => undefined,
    });
    this.#trial = child;
  }

  #child(events: {
    ready: (info: EngineInfo) => void;
    unfit: (error: ToldError) => void;
    gone: (death: Death | null) => void;
    report: (report: { load: EngineLoad }) => void;
  }): EngineChild {
    const { start, settings, observer, isStopped } = this.#options;
    const options = {
      start,
      settings: settings(),
      timers: this.#timers,
      ...(isStopped === undefined ? {} : { isStopped }),
    };
    return new EngineChild(options, {
      ...events,
      report: (report) => {
        events.report(report);
        for (const measurement of report.measurements) observer.measured(measurement);
      },
      call: (message) => this.#hear(message),
    });
  }

  #hear(message: Extract<FromChild, { id: number }>): void {
    const call = this.#calls.get(message.id);
    if (call === undefined) return;
    if (message.kind === 'progress') this.#tell(call, message.value);
    else
      call.settle(message.kind === 'answer' ? { value: message.value } : { error: errorOf(message.error) });
  }

  #tell(call: Call, value: unknown): void {
    try {
      call.progress(value);
    } catch (error) {
      call.child?.send({ kind: 'abort', id: call.id });
      call.settle({ error });
    }
  }

  #servingGone(child: EngineChild, death: Death | null): void {
    this.#serving = null;
    this.#load = null;
    const lost = this.#lostIn(child);
    if (death !== null) this.#report(death, lost);
    this.#again(this.#suspects.servingDied(lost));
    if (this.#firstReady !== null) {
      this.#closing = true;
      this.#firstReady.reject(
        this.#firstError ?? new Error(`The engine's process has ended: ${death?.how ?? ''}.`),
      );
      this.#firstReady = null;
    }
    if (!child.isReady) this.#startFailed();
    if (this.#closing && this.#calls.size === 0) this.#endIfIdle();
    else if (child.isProven) {
      this.#pause.end();
      this.#startServing();
    } else this.#pause.begin(() => this.#startServing());
    this.#advance();
  }

  #trialGone(child: EngineChild, death: Death | null): void {
    this.#trial = null;
    const lost = this.#lostIn(child);
    if (death !== null) {
      this.#report(death, lost);
      if (child.isReady) this.#judge();
      else this.#trialFailed();
    } else if (!child.isReady) this.#trialFailed();
    this.#advance();
  }

  #judge(): void {
    const guilty = this.#suspects.trialDied();
    if (guilty === null) return;
    this.#options.observer.engineRefused(guilty.origin);
    const message = 'The engine broke down each time it worked on this request, at last on nothing else.';
    guilty.settle({ error: new VerbatimError('internal_error', message) });
  }

  #trialFailed(): void {
    this.#fruitlessTrials += 1;
    this.#trialPause.begin(() => this.#advance());
    if (this.#fruitlessTrials < FRUITLESS_STARTS) return;
    this.#fruitlessTrials = 0;
    for (const call of this.#suspects.giveUp()) call.settle({ error: unavailable() });
  }

  #startFailed(): void {
    this.#fruitless += 1;
    if (this.#fruitless < FRUITLESS_STARTS) return;
    for (const call of [...this.#waiting]) call.settle({ error: unavailable() });
  }

  #lostIn(child: EngineChild): Call[] {
    const lost = [...child.calls].flatMap((id) => this.#calls.get(id) ?? []);
    for (const call of lost) call.child = null;
    return lost;
  }

  /** Before what came later. */
  #again(calls: readonly Call[]): void {
    const later = [...this.#waiting];
    this.#waiting.clear();
    for (const call of [...calls, ...later]) this.#waiting.add(call);
  }

  #report(death: Death, lost: readonly Call[]): void {
    const requestIds = lost.flatMap(({ origin }) => origin?.requestId ?? []);
    this.#options.observer.engineDied({ ...death, requestIds });
  }

  #endIfIdle(): void {
    if (!this.#closing || this.#calls.size > 0) return;
    this.#pause.end();
    this.#trialPause.end();
    this.#serving?.end();
    this.#trial?.end();
    if (this.#serving !== null || this.#trial !== null) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function unavailable(): VerbatimError {
  return overloaded('The engine does not start.');
}

function overloaded(message: string): VerbatimError {
  return new VerbatimError('overloaded', `${message} Try again later.`, { retryAfterSeconds: RETRY_SECONDS });
}
