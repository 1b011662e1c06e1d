/** Engines of several models, of which all but the default are loaded when they are asked for. */
import { VerbatimError } from '../../src/errors.js';
import {
  unsupportedModel,
  type EngineLease,
  type ListedSpeechModel,
  type SpeechOfModel,
  type SpeechRequest,
} from '../../src/transcription/engine-lease.js';
import { FakeEngine } from './fake-engine.js';
import { fixedModel } from './fixed-model.js';
import type { TestServerOptions } from './server.js';

const LOADED_AT = Date.UTC(2026, 0, 15, 12);

export class SeveralModels {
  /** Who asked for each load, in order. */
  readonly loads: (SpeechRequest & { model: string })[] = [];
  /** Leases that are held. */
  held = 0;
  /** What loading fails with; null: it succeeds. */
  failWith: Error | null = null;
  readonly #engines: Map<string, FakeEngine>;
  readonly #since = new Map<string, number>();
  readonly #default: FakeEngine;
  #gate: Promise<void> | null = null;
  #open = (): void => undefined;

  /** The first is the default. */
  constructor(...names: [string, ...string[]]) {
    this.#engines = new Map(names.map((name) => [name, engineOf(name)]));
    this.#default = this.engine(names[0]);
    this.#since.set(names[0], LOADED_AT);
  }

  engine(name: string): FakeEngine {
    const engine = this.#engines.get(name);
    if (engine === undefined) throw new Error(`There is no engine ${name}.`);
    return engine;
  }

  /** From now on loads wait until release(). */
  holdLoads(): void {
    this.#gate = new Promise((resolve) => (this.#open = resolve));
  }

  release(): void {
    this.#open();
    this.#gate = null;
  }

  /** Whoever names it is refused from now on. */
  uninstall(name: string): void {
    this.#engines.delete(name);
  }

  get options(): Pick<TestServerOptions, 'engine' | 'engines' | 'speechModels'> {
    const engine = this.#default;
    return {
      engine,
      engines: {
        acquire: (model) => this.#acquire(model),
        backlog: engine.backlog,
        models: fixedModel(engine.info.modelName),
        close: async () => {
          await Promise.all([...this.#engines.values()].map((each) => each.close()));
        },
      },
      speechModels: {
        list: () => [this.#describe(engine), ...this.#others().map((other) => this.#describe(other))],
        find: (name) => (this.#engines.has(name) ? this.#describe(this.engine(name)) : null),
      },
    };
  }

  #others(): FakeEngine[] {
    return [...this.#engines.values()].filter((engine) => engine !== this.#default);
  }

  #describe({ info }: FakeEngine): ListedSpeechModel {
    const since = this.#since.get(info.modelName) ?? null;
    return { info, loaded: since !== null, since };
  }

  #acquire(model: string | null): EngineLease {
    if (model !== null && !this.#engines.has(model)) throw unsupportedModel(model, [...this.#engines.keys()]);
    const engine = model === null ? this.#default : this.engine(model);
    let isHeld = true;
    this.held += 1;
    return {
      ...{ reader: this.#default, info: engine.info, translator: undefined },
      speech: (request) => this.#load(engine, request),
      release: () => {
        if (isHeld) this.held -= 1;
        isHeld = false;
      },
    };
  }

  async #load(engine: FakeEngine, request: SpeechRequest): Promise<SpeechOfModel> {
    const { modelName } = engine.info;
    if (this.#since.has(modelName)) return engine;
    this.loads.push({ ...request, model: modelName });
    await this.#untilReleased(request.signal);
    if (this.failWith !== null) throw this.failWith;
    this.#since.set(modelName, LOADED_AT);
    return engine;
  }

  async #untilReleased(signal: AbortSignal): Promise<void> {
    const gate = this.#gate;
    if (gate === null) return;
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      void gate.then(resolve);
    });
  }
}

/** There is no memory for the model now. */
export function noMemory(retryAfterSeconds: number): VerbatimError {
  return new VerbatimError('overloaded', 'There is no memory for the model now.', { retryAfterSeconds });
}

function engineOf(name: string): FakeEngine {
  const engine = new FakeEngine();
  engine.info.modelName = name;
  return engine;
}
