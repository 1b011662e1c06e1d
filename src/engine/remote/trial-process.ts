import { EngineBreakingError } from '../../errors.js';
import { GrowingPause } from '../../growing-pause.js';
import type { Timers } from '../../timers.js';
import type { WorkOrigin } from '../types.js';
import type { Death, EngineChild, MakeEngineChild } from './engine-child.js';
import { unavailable, type EngineCall, type PendingCalls } from './pending-calls.js';
import { FRUITLESS_STARTS } from './serving-process.js';
import type { Suspects } from './suspects.js';

export interface TrialOptions {
  make: MakeEngineChild;
  timers: Timers;
  suspects: Suspects<EngineCall>;
  calls: Pick<PendingCalls, 'send'>;
}

export interface TrialEvents {
  /** Something can be done that could not be before. */
  changed(): void;
  gone(child: EngineChild, death: Death | null): void;
  /** Its process died each time, at last with nothing else in it. */
  refused(origin: WorkOrigin | undefined): void;
}

/** The process beside the one that serves, in which suspects are tried; there is one while there are any. */
export class TrialProcess {
  readonly #options: TrialOptions;
  readonly #pause: GrowingPause;
  #child: EngineChild | null = null;
  #fruitless = 0;

  constructor(
    options: TrialOptions,
    private readonly events: TrialEvents,
  ) {
    this.#options = options;
    this.#pause = new GrowingPause(options.timers);
  }

  get isGone(): boolean {
    return this.#child === null;
  }

  /** Whatever can be done now. */
  advance(): void {
    const { suspects, calls } = this.#options;
    if (!suspects.hasAny(isWaitedFor)) this.#child?.end();
    else if (this.#child === null) {
      if (!this.#pause.isRunning) this.#begin();
    } else if (this.#child.isServing) {
      for (const call of suspects.next(isWaitedFor) ?? []) calls.send(this.#child, call);
    }
  }

  end(): void {
    this.#pause.end();
    this.#child?.end();
  }

  #begin(): void {
    const child: EngineChild = this.#options.make({
      ready: () => {
        this.#fruitless = 0;
        this.events.changed();
      },
      unfit: () => undefined,
      gone: (death) => this.#gone(child, death),
      report: () => undefined,
    });
    this.#child = child;
  }

  #gone(child: EngineChild, death: Death | null): void {
    this.#child = null;
    this.events.gone(child, death);
    if (!child.isReady) this.#failed();
    else if (death !== null) this.#judge();
    this.events.changed();
  }

  #judge(): void {
    const guilty = this.#options.suspects.trialDied();
    if (guilty === null) return;
    this.events.refused(guilty.origin);
    guilty.settle({ error: new EngineBreakingError() });
  }

  #failed(): void {
    this.#fruitless += 1;
    this.#pause.begin(() => this.events.changed());
    if (this.#fruitless < FRUITLESS_STARTS) return;
    this.#fruitless = 0;
    for (const call of this.#options.suspects.giveUp()) call.settle({ error: unavailable() });
  }
}

function isWaitedFor({ settled }: EngineCall): boolean {
  return !settled;
}
