/**
 * Finds native calls that do not return. It counts pings instead of time, so a machine that stands still for a while
 * makes no call overdue.
 */

/** The most pings during which one call may run. There are two pings a second. */
const PINGS: Readonly<Record<string, number>> = {
  ...{ openAudio: 120, measure: 120, nextWindow: 120, openSamples: 120 },
  // Some layers of an encoder, or some steps of a batch.
  advance: 120,
  ...{ createSlot: 600, createEncoder: 600, createBatch: 600, createTranslator: 600 },
  ...{ tokenize: 240, detokenize: 240 },
  // A whole window with all its fallbacks, for the largest model on a slow machine. For `translate`: a batch of
  // sentences.
  ...{ transcribe: 3600, alignText: 3600, translate: 3600 },
  ...{
    loadVoiceActivityModel: 3600,
    loadSpeechModel: 3600,
    loadRecogniser: 3600,
    loadTranslationModel: 3600,
  },
};

interface Unit {
  name: string;
  pings: number;
}

type Method = (this: unknown, ...given: unknown[]) => unknown;

export class NativeWatch {
  readonly #units = new Set<Unit>();
  /** For the prototype of each class: a prototype whose calls are watched, or itself if it has no calls to watch. */
  readonly #classes = new WeakMap<object, object>();

  /** Must be called at each ping. Returns the name of an overdue call, or null. */
  tick(): string | null {
    let overdue: string | null = null;
    for (const unit of this.#units) {
      unit.pings += 1;
      if (unit.pings > (PINGS[unit.name] ?? Infinity)) overdue ??= unit.name;
    }
    return overdue;
  }

  /** Returns the same object. Its calls are watched, and those of all handles that it returns. */
  watch<T extends object>(binding: T): T {
    this.#replaceMethods(binding);
    return binding;
  }

  /** Gives a handle the watched prototype of its class. The prototype is created once for each class. */
  #watchHandle(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const own = Object.getPrototypeOf(value) as object | null;
    if (own === null || own === Object.prototype) return;
    let watched = this.#classes.get(own);
    if (watched === undefined) {
      const derived = Object.create(own) as object;
      watched = this.#replaceMethods(derived) ? derived : own;
      this.#classes.set(own, watched);
    }
    if (watched !== own) Object.setPrototypeOf(value, watched);
  }

  /** Returns false if the object has no calls to watch. */
  #replaceMethods(owner: object): boolean {
    let isChanged = false;
    for (const name of Object.keys(PINGS)) {
      const method = (owner as Record<string, unknown>)[name];
      if (typeof method !== 'function') continue;
      const follow = (result: unknown): unknown => this.#follow(name, result);
      const watched = function (this: unknown, ...given: unknown[]): unknown {
        return follow(withoutStack(() => (method as Method).apply(this, given)));
      };
      Object.defineProperty(owner, name, { value: watched, configurable: true, writable: true });
      isChanged = true;
    }
    return isChanged;
  }

  #follow(name: string, result: unknown): unknown {
    if (!(result instanceof Promise)) return result;
    const unit = { name, pings: 0 };
    this.#units.add(unit);
    return result.then(
      (value: unknown) => {
        this.#units.delete(unit);
        this.#watchHandle(value);
        return value;
      },
      (error: unknown) => {
        this.#units.delete(unit);
        throw error;
      },
    );
  }
}

/**
 * Runs a native call without capturing a stack trace. Each native call would capture one in case it fails, but this
 * process reports only codes and messages.
 */
function withoutStack<T>(call: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return call();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
