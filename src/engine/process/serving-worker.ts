import { GrowingPause } from '../../growing-pause.js';
import type { Timers } from '../../timers.js';
import { fromChannelError } from './channel-errors.js';
import type { Death, MakeWorker, WorkerProcess } from './worker-process.js';

export interface ServingEvents {
  /** Calls may be able to go on now. */
  changed(): void;
  /** A report of the serving process. */
  report(report: unknown): void;
  /** The latest starts all failed. Calls must not wait for the next one. */
  hopeless(): void;
  /**
   * The process cannot start with its settings. Not called for the first process if start() was called, because start()
   * rejects.
   */
  unfit(error: Error): void;
  /** Another process is started after this, unless end() is called. */
  gone(worker: WorkerProcess, death: Death | null): void;
}

export interface ServingOptions {
  make: MakeWorker;
  timers: Timers;
  /** The process's name in messages: "the engine". */
  name: string;
  /** Whether a process is needed now. Default: always, from start() on. */
  isNeeded?: () => boolean;
}

/** After this many consecutive processes died before they were ready, calls do not wait for the next one. */
export const FRUITLESS_STARTS = 3;

/** The shortest time between the death of a process that answered nothing and the next start. */
const LEAST_PAUSE_MS = 1000;

/**
 * The serving process. It is restarted when it dies: at once if it had answered something, or if it was ready and the
 * process before it had answered something. Otherwise it is restarted after growing pauses. After a death, a pause is
 * at most as long as the process lived, but may always be one second. So starts take at most half of the time, and
 * service resumes soon after the cause has gone.
 */
export class ServingWorker {
  readonly #pause: GrowingPause;
  #worker: WorkerProcess | null = null;
  #startedAt = 0;
  #fruitless = 0;
  /** Whether the latest process died before it answered anything. One early death does not cause a pause. */
  #diedEarly = false;
  #ended = false;
  #firstError: Error | null = null;
  #first: { resolve: (info: unknown) => void; reject: (error: Error) => void } | null = null;

  constructor(
    private readonly options: ServingOptions,
    private readonly events: ServingEvents,
  ) {
    this.#pause = new GrowingPause(options.timers);
  }

  /**
   * Resolves to the first process's report when it is ready. Rejects if it does not become ready; then no other is
   * started.
   */
  start(): Promise<unknown> {
    const ready = new Promise<unknown>((resolve, reject) => (this.#first = { resolve, reject }));
    this.#begin();
    return ready;
  }

  /** Starts a process if one is needed and there is none. */
  startIfNeeded(): void {
    const { isNeeded } = this.options;
    if (this.#worker === null && !this.#ended && !this.#pause.isRunning && isNeeded?.() === true) this.#begin();
  }

  /** The process that can take calls; null: none can. */
  get worker(): WorkerProcess | null {
    return this.#worker?.isServing === true ? this.#worker : null;
  }

  /** null: there is no process. */
  get pid(): number | null {
    return this.#worker?.pid ?? null;
  }

  /** Whether the latest starts all failed, and the next one is under way or waits for its pause to end. */
  get isHopeless(): boolean {
    return this.#fruitless >= FRUITLESS_STARTS && (this.#worker !== null || this.#pause.isRunning);
  }

  /** Whether there is no process, and none is started for a while, because the last ones died. */
  get isResting(): boolean {
    return this.#pause.isRunning;
  }

  get isGone(): boolean {
    return this.#worker === null;
  }

  /** Sends a notice to the current process, ready or not. */
  notify(value: unknown): void {
    this.#worker?.notify(value);
  }

  /** Ends the process until one is needed again. */
  rest(): void {
    this.#worker?.end();
  }

  /** Ends the process, and starts no other. */
  end(): void {
    this.#ended = true;
    this.#pause.end();
    this.#worker?.end();
  }

  #begin(): void {
    const worker: WorkerProcess = this.options.make({
      ready: (info) => this.#ready(info),
      unfit: (error) => this.#unfit(fromChannelError(error)),
      gone: (death) => this.#gone(worker, death),
      report: (report) => this.events.report(report),
    });
    this.#worker = worker;
    this.#startedAt = this.options.timers.now();
  }

  #ready(info: unknown): void {
    this.#fruitless = 0;
    this.#first?.resolve(info);
    this.#first = null;
    this.events.changed();
  }

  #unfit(error: Error): void {
    if (this.#first === null) this.events.unfit(error);
    else this.#firstError = error;
  }

  #gone(worker: WorkerProcess, death: Death | null): void {
    this.#worker = null;
    if (!worker.isReady) this.#fruitless += 1;
    this.#rejectFirst(death);
    this.events.gone(worker, death);
    if (!this.#ended && !(worker.isReady && death === null)) this.#beginAgain(worker, death);
    if (this.isHopeless) this.events.hopeless();
    this.events.changed();
  }

  #beginAgain(worker: WorkerProcess, death: Death | null): void {
    const isFirstEarly = worker.isReady && !this.#diedEarly;
    this.#diedEarly = !worker.isProven;
    if (worker.isProven) this.#pause.end();
    if (worker.isProven || isFirstEarly) this.#beginUnlessUnneeded();
    else this.#pause.begin(() => this.#beginUnlessUnneeded(), death === null ? Infinity : this.#mostPauseMs());
  }

  #mostPauseMs(): number {
    return Math.max(LEAST_PAUSE_MS, this.options.timers.now() - this.#startedAt);
  }

  #beginUnlessUnneeded(): void {
    if (this.options.isNeeded?.() !== false) this.#begin();
  }

  #rejectFirst(death: Death | null): void {
    if (this.#first === null) return;
    this.#ended = true;
    const ended = `The process of ${this.options.name} has ended: ${death?.how ?? ''}.`;
    this.#first.reject(this.#firstError ?? new Error(ended));
    this.#first = null;
  }
}
