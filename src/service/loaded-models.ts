/**
 * The speech models that are loaded beside the default one for requests that name them. Each has its own processes. A
 * model is loaded for its first request, after that request was paid for; other requests for the model wait too. Models
 * are loaded one at a time, in fair turns by account. An unused model is unloaded after a while, or earlier if memory
 * is short.
 */
import type { EngineInfo } from '../engine/types.js';
import { FairQueue, type Waiting } from '../engine/fair-queue.js';
import type { LaneDivision } from '../engine/lane-division.js';
import { VerbatimError } from '../errors.js';
import type { Timer, Timers } from '../timers.js';
import type { SpeechOfModel, SpeechRequest } from '../transcription/engine-lease.js';
import type { EngineApart } from './engine-apart.js';
import { LeasedEngine } from './leased-engine.js';
import type { LoadObserver, UnloadReason } from './load-observer.js';
import type { Logger } from './log.js';
import type { ModelMemory, Unloadable } from './model-memory.js';

/** An installed model. */
export interface ModelToLoad {
  /** The most memory that it may use while it is loaded. */
  bytes: number;
  /** Rejects when the signal aborts. Then no process is left. */
  start: (signal: AbortSignal) => Promise<EngineApart>;
}

export interface LoadedModelsOptions {
  /** Throws ModelRefused if there is no such model. */
  find: (name: string) => ModelToLoad;
  memory: ModelMemory;
  division: LaneDivision;
  /** An unused model is unloaded after this many milliseconds. null: never. */
  idleMs: number | null;
  observer: LoadObserver;
  logger: Pick<Logger, 'error' | 'info'>;
  timers: Timers;
  /** Milliseconds since 1970. */
  now: () => number;
}

export interface SpeechLease {
  engine: SpeechOfModel;
  release: () => void;
}

/** The longest time from a request to its model. It includes other loads, waiting for memory, and the load itself. */
export const LONGEST_WAIT_MS = 60_000;
/** A model that failed to load is not tried again for this time. */
const FAILED_MS = 60_000;
const RETRY_SECONDS = 10;

class LoadRequest implements Waiting {
  readonly costLeft = 1;
  readonly lease: Promise<SpeechLease>;
  resolve!: (lease: SpeechLease) => void;
  reject!: (reason: unknown) => void;

  constructor(
    readonly model: string,
    readonly accountId: string,
    /** Memory that the load needs. */
    readonly bytes: number,
  ) {
    this.lease = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
  }
}

interface LoadedModel extends Unloadable {
  readonly leased: LeasedEngine;
  idle: Timer | null;
  lastUsed: number;
}

export class LoadedModels {
  readonly #models = new Map<string, LoadedModel>();
  readonly #requests = new FairQueue<LoadRequest>(1);
  readonly #failed = new Map<string, { error: Error; until: number }>();
  readonly #closing = new AbortController();
  #isLoading = false;
  #loading: Promise<void> = Promise.resolve();

  constructor(private readonly options: LoadedModelsOptions) {}

  /** Rejects with the signal's reason, with `overloaded` or `shutting_down`, or as `find` throws. */
  async lease(name: string, { accountId, signal }: SpeechRequest): Promise<SpeechLease> {
    signal.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    const loaded = this.#models.get(name);
    if (loaded !== undefined) return this.#acquire(loaded);
    const request = new LoadRequest(name, accountId, this.#bytesFor(name));
    const end = (reason: unknown): void => {
      request.reject(reason);
      this.#requests.remove(request);
    };
    const aborted = (): void => end(signal.reason);
    const timer = this.options.timers.after(LONGEST_WAIT_MS, () => end(noRoom(name)));
    signal.addEventListener('abort', aborted, { once: true });
    this.#requests.add(request);
    this.#advance();
    try {
      return await request.lease;
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', aborted);
    }
  }

  /** The loaded models. */
  list(): { info: EngineInfo; since: number; engine: EngineApart }[] {
    return [...this.#models.values()].map(({ leased }) => {
      const { engine, servesSince: since } = leased;
      return { info: engine.info, since, engine };
    });
  }

  /**
   * The model has become the default model in another process. Its requests here finish, and new ones go to the other
   * process.
   */
  replaced(name: string): void {
    const loaded = this.#models.get(name);
    if (loaded !== undefined) void this.#unload(name, loaded, 'replaced');
  }

  /** Waits for running requests, and rejects those that wait for a model. */
  async close(): Promise<void> {
    const error = new VerbatimError('shutting_down', 'The server is shutting down.');
    this.#closing.abort(error);
    for (const request of [...this.#requests.items()]) this.#reject(request, error);
    await this.#loading;
    await Promise.all([...this.#models.values()].map((loaded) => this.#end(loaded)));
  }

  /** Throws if the model cannot be loaded, or could never get enough memory. */
  #bytesFor(name: string): number {
    const { find, memory, now } = this.options;
    const failed = this.#failed.get(name);
    if (failed !== undefined && failed.until > now()) throw failed.error;
    this.#failed.delete(name);
    const { bytes } = find(name);
    if (!memory.canEverFit(bytes)) throw noRoom(name);
    return bytes;
  }

  #acquire(loaded: LoadedModel): SpeechLease {
    loaded.idle?.cancel();
    loaded.idle = null;
    loaded.lastUsed = this.options.now();
    const { speech, release } = loaded.leased.acquireSpeech();
    return {
      engine: speech,
      release: () => {
        release();
        loaded.lastUsed = this.options.now();
        this.#watchIdleness(loaded);
        this.#advance();
      },
    };
  }

  #watchIdleness(loaded: LoadedModel): void {
    const { idleMs, timers } = this.options;
    if (idleMs === null || loaded.leased.users > 0) return;
    const name = loaded.leased.engine.info.modelName;
    loaded.idle?.cancel();
    loaded.idle = timers.after(idleMs, () => void this.#unload(name, loaded, 'idle'));
  }

  /** Starts to load models, one after another, as long as one can be loaded. */
  #advance(): void {
    if (this.#isLoading) return;
    this.#isLoading = true;
    this.#loading = this.#loadNext();
  }

  async #loadNext(): Promise<void> {
    for (;;) {
      const request = this.#requests.next(({ bytes }) => this.options.memory.canFit(bytes));
      if (request === undefined) {
        this.#isLoading = false;
        return;
      }
      this.#requests.charge(request, 1);
      await this.#load(request.model);
    }
  }

  async #load(name: string): Promise<void> {
    const { find, memory, logger, observer, now } = this.options;
    const begun = now();
    try {
      const { bytes, start } = find(name);
      if (!(await memory.makeRoom(bytes))) return;
      const engine = await start(this.#closing.signal);
      const milliseconds = now() - begun;
      logger.info({ model: name, milliseconds }, 'a model was loaded for the requests that name it');
      observer.modelLoaded(name, milliseconds);
      this.#add(name, engine);
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#fail(name, error as Error);
    }
  }

  #add(name: string, engine: EngineApart): void {
    const { division, memory, now } = this.options;
    const leased = new LeasedEngine(engine, now(), division);
    const unload = (): Promise<void> => this.#unload(name, loaded, 'memory');
    const loaded: LoadedModel = {
      ...{ leased, idle: null, lastUsed: now(), unload },
      get isIdle() {
        return leased.users === 0;
      },
      get bytes() {
        return engine.bytes;
      },
    };
    this.#models.set(name, loaded);
    memory.add(loaded);
    for (const request of this.#requestsFor(name)) {
      this.#requests.remove(request);
      request.resolve(this.#acquire(loaded));
    }
    this.#watchIdleness(loaded);
  }

  #requestsFor(name: string): LoadRequest[] {
    return [...this.#requests.items()].filter(({ model }) => model === name);
  }

  #fail(name: string, cause: Error): void {
    const { logger, now } = this.options;
    logger.error({ err: cause, model: name }, 'a model could not be loaded');
    const error = overloaded(`The model "${name}" cannot be loaded now.`, cause);
    this.#failed.set(name, { error, until: now() + FAILED_MS });
    for (const request of this.#requestsFor(name)) this.#reject(request, error);
  }

  #reject(request: LoadRequest, error: unknown): void {
    this.#requests.remove(request);
    request.reject(error);
  }

  async #unload(name: string, loaded: LoadedModel, reason: UnloadReason): Promise<void> {
    if (this.#models.get(name) !== loaded) return;
    this.#models.delete(name);
    await this.#end(loaded);
    this.options.logger.info({ model: name, reason }, 'a model was unloaded');
    this.options.observer.modelUnloaded(name, reason);
    this.#advance();
  }

  async #end(loaded: LoadedModel): Promise<void> {
    loaded.idle?.cancel();
    this.options.memory.delete(loaded);
    await loaded.leased.retire();
  }
}

function noRoom(name: string): VerbatimError {
  return overloaded(`There is no memory for the model "${name}" now.`);
}

function overloaded(message: string, cause?: Error): VerbatimError {
  const options = { retryAfterSeconds: RETRY_SECONDS, ...(cause === undefined ? {} : { cause }) };
  return new VerbatimError('overloaded', `${message} Try again later.`, options);
}
