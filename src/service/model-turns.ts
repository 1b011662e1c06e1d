/**
 * Changes the speech model of a server. One model serves, another may be starting, and the previous one may still be
 * finishing requests.
 */
import { ModelRefused } from '../errors.js';
import type { ModelChange, ModelState, ModelSwitch } from '../models/model-switch.js';
import type { LaneDivision } from '../engine/lane-division.js';
import type { EngineLease } from '../transcription/engine-lease.js';
import type { EngineApart } from './engine-apart.js';
import { LeasedEngine } from './leased-engine.js';
import type { Logger } from './log.js';

export interface ModelTurnsOptions {
  first: EngineApart;
  division: LaneDivision;
  /** Called when another model has begun to serve. */
  served?: (name: string) => void;
  /** Throws ModelRefused if the model is not installed or there is not enough memory. */
  find: (name: string, leastSpeed?: number) => NextModel;
  afterRestart: (serving: string) => string;
  logger: Pick<Logger, 'error' | 'info'>;
  /** Milliseconds since 1970. */
  now: () => number;
}

export interface NextModel {
  /** Rejects when the signal aborts. Then no process is left. */
  start: (signal: AbortSignal) => Promise<EngineApart>;
  /** Rejects if the model is not fit to serve. */
  check: (engine: EngineApart, signal: AbortSignal) => Promise<void>;
  /** Stores the model for the next start, before it serves. An error here refuses the model. */
  choose: () => void;
}

export class ModelTurns implements ModelSwitch {
  #serving: LeasedEngine;
  #draining: LeasedEngine | null = null;
  #change: Omit<ModelChange, 'requests'> | null = null;
  #last: ModelState['last'] = null;
  #changing: Promise<void> | null = null;
  readonly #closing = new AbortController();

  constructor(private readonly options: ModelTurnsOptions) {
    this.#serving = new LeasedEngine(options.first, options.now(), options.division);
  }

  get serving(): EngineApart {
    return this.#serving.engine;
  }

  /** Includes the previous model while it finishes requests. */
  get atWork(): EngineApart[] {
    return [this.#serving, this.#draining].flatMap((leased) => leased?.engine ?? []);
  }

  acquire(): EngineLease {
    return this.#serving.acquire();
  }

  state(): ModelState {
    const serving = this.serving.info.modelName;
    const change = this.#change && { ...this.#change, requests: this.#draining?.users ?? 0 };
    const afterRestart = this.options.afterRestart(serving);
    return { serving, since: this.#serving.servesSince, afterRestart, change, last: this.#last };
  }

  use(name: string, by: string): void {
    // The result is in `state()`.
    this.#begin(name, by).catch(() => undefined);
  }

  /**
   * Like use(), but resolves when the model serves, and rejects with the reason if it does not. `leastSpeed`: see
   * checkModel().
   */
  async bringIn(name: string, by: string, leastSpeed: number): Promise<void> {
    await this.#begin(name, by, leastSpeed);
  }

  /** Throws as use(). */
  #begin(name: string, by: string, leastSpeed?: number): Promise<void> {
    this.#refuse(name);
    const next = this.options.find(name, leastSpeed);
    const from = this.serving.info.modelName;
    this.#change = { phase: 'starting', from, to: name };
    this.options.logger.info({ from, to: name, by }, 'changing the speech model');
    const served = this.#replace(name, next);
    this.#changing = served
      .then(
        (before) => this.#retire(before, name),
        () => undefined,
      )
      .finally(() => {
        this.#change = null;
        this.#changing = null;
      });
    return served.then(() => undefined);
  }

  /** Waits for running requests. A model that does not serve yet is abandoned. */
  async close(): Promise<void> {
    this.#closing.abort(new ModelRefused('The server is shutting down.'));
    await this.#changing;
    await this.#serving.close();
  }

  #refuse(name: string): void {
    const { serving, change } = this.state();
    if (this.#closing.signal.aborted) throw new ModelRefused('The server is shutting down.');
    if (change !== null) throw new ModelRefused(`${underWay(change)}; try again when that is done.`);
    if (name === serving) throw new ModelRefused(`"${name}" serves already.`);
  }

  /** Resolves to the previous engine, which may still have requests. */
  async #replace(name: string, next: NextModel): Promise<LeasedEngine> {
    const { logger, now, division, served } = this.options;
    const before = this.#serving;
    try {
      const engine = await this.#fit(next);
      this.#draining = before;
      this.#serving = new LeasedEngine(engine, now(), division);
    } catch (error) {
      this.#last = { to: name, error: (error as Error).message };
      logger.error({ err: error, to: name }, 'the new model was not put into service; the previous one stays in use');
      throw error;
    }
    served?.(name);
    this.#last = { to: name, error: null };
    this.#phase('draining');
    logger.info(
      { from: before.engine.info.modelName, to: name, requests: before.users },
      'the speech model was changed',
    );
    return before;
  }

  async #retire(before: LeasedEngine, to: string): Promise<void> {
    await before.retire();
    this.#draining = null;
    this.options.logger.info(
      { from: before.engine.info.modelName, to },
      'the previous model has finished its requests',
    );
  }

  async #fit({ start, check, choose }: NextModel): Promise<EngineApart> {
    const { signal } = this.#closing;
    const engine = await start(signal);
    this.#phase('checking');
    const failed = new AbortController();
    const died = engine.died.then((how) => {
      throw new ModelRefused(`The engine process died while the model was checked: ${how}.`);
    });
    try {
      await Promise.race([check(engine, AbortSignal.any([signal, failed.signal])), died]);
      signal.throwIfAborted();
      choose();
      return engine;
    } catch (error) {
      failed.abort(error);
      await engine.close();
      throw error;
    }
  }

  #phase(phase: ModelChange['phase']): void {
    if (this.#change !== null) this.#change = { ...this.#change, phase };
  }
}

function underWay({ phase, from, to, requests }: ModelChange): string {
  if (phase === 'draining') return `"${from}", the model before "${to}", still has ${requests} requests to finish`;
  return `"${to}" is being put into service`;
}
