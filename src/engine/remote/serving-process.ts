import { GrowingPause } from '../../growing-pause.js';
import type { Timers } from '../../timers.js';
import { errorOf } from '../process/told-errors.js';
import type { EngineInfo, EngineLoad } from './engine-calls.js';
import type { Death, EngineChild, MakeEngineChild } from './engine-child.js';

export interface ServingEvents {
  /** Something can be done that could not be before. */
  changed(): void;
  /** Another is started after this, unless end() is called. */
  gone(child: EngineChild, death: Death | null): void;
}

/** Starts in a row that came to nothing: what waits is not kept waiting any longer. */
export const FRUITLESS_STARTS = 3;

/** Nothing is loaded. */
const NO_LOAD = { slots: 0, busySlots: 0, windowsInFlight: 0, queuedWindows: 0 };

/**
 * The process that serves: started again when it dies, at once where it had answered something, or was ready and the one before it had;
 * else with growing pauses.
 */
export class ServingProcess {
  readonly #pause: GrowingPause;
  #child: EngineChild | null = null;
  #fruitless = 0;
  /** Whether the latest death came before anything was answered: a fault may strike early once. */
  #diedEarly = false;
  #load: EngineLoad | null = null;
  #realTimeFactor = 1;
  #ended = false;
  #firstError: Error | null = null;
  #first: { resolve: (info: EngineInfo) => void; reject: (error: Error) => void } | null = null;

  constructor(
    private readonly make: MakeEngineChild,
    timers: Timers,
    private readonly events: ServingEvents,
  ) {
    this.#pause = new GrowingPause(timers);
  }

  /** Rejects where the first process does not become ready; then no other is started. */
  start(): Promise<EngineInfo> {
    const ready = new Promise<EngineInfo>((resolve, reject) => (this.#first = { resolve, reject }));
    this.#begin();
    return ready;
  }

  /** What can be given work; null while nothing can. */
  get child(): EngineChild | null {
    return this.#child?.isServing === true ? this.#child : null;
  }

  /** Null while there is none. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  get load(): EngineLoad {
    return this.child !== null && this.#load !== null
      ? this.#load
      : { ...NO_LOAD, realTimeFactor: this.#realTimeFactor };
  }

  /** Whether the latest starts all came to nothing. */
  get isHopeless(): boolean {
    return this.#fruitless >= FRUITLESS_STARTS;
  }

  /** Whether none is there, and none is started for a while, since they die. */
  get isResting(): boolean {
    return this.#pause.isRunning;
  }

  get isGone(): boolean {
    return this.#child === null;
  }

  /** For good. */
  end(): void {
    this.#ended = true;
    this.#pause.end();
    this.#child?.end();
  }

  #begin(): void {
    const child: EngineChild = this.make({
      ready: (info) => this.#ready(info),
      unfit: (error) => (this.#firstError = errorOf(error)),
      gone: (death) => this.#gone(child, death),
      report: ({ load }) => {
        this.#load = load;
        this.#realTimeFactor = load.realTimeFactor;
      },
    });
    this.#child = child;
  }

  #ready(info: EngineInfo): void {
    this.#fruitless = 0;
    this.#first?.resolve(info);
    this.#first = null;
    this.events.changed();
  }

  #gone(child: EngineChild, death: Death | null): void {
    this.#child = null;
    this.#load = null;
    if (!child.isReady) this.#fruitless += 1;
    this.#rejectFirst(death);
    this.events.gone(child, death);
    if (!this.#ended) this.#beginAgain(child);
    this.events.changed();
  }

  #beginAgain(child: EngineChild): void {
    const isFirstEarly = child.isReady && !this.#diedEarly;
    this.#diedEarly = !child.isProven;
    if (child.isProven) this.#pause.end();
    if (child.isProven || isFirstEarly) this.#begin();
    else this.#pause.begin(() => this.#begin());
  }

  #rejectFirst(death: Death | null): void {
    if (this.#first === null) return;
    this.#ended = true;
    this.#first.reject(this.#firstError ?? new Error(`The engine's process has ended: ${death?.how ?? ''}.`));
    this.#first = null;
  }
}
