/** Native calls that do not come back, found by counting pings: a machine that stands still for a while hangs nothing. */

/** Pings during which one call may be at work. A ping comes twice a second. */
const PINGS: Readonly<Record<string, number>> = {
  ...{ openAudio: 120, measure: 120, nextWindow: 120, openSamples: 120 },
  // Some layers of an encoder, some steps of a batch.
  advance: 120,
  ...{ createSlot: 600, createEncoder: 600, createBatch: 600, createTranslator: 600 },
  ...{ tokenize: 240, detokenize: 240 },
  // A whole window, with all its fall-backs, of the largest model on a slow machine; a batch of sentences.
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

type Method = (...given: unknown[]) => unknown;

export class NativeWatch {
  readonly #units = new Set<Unit>();

  /** A ping has come. The name of a call that is overdue; null: none is. */
  tick(): string | null {
    let overdue: string | null = null;
    for (const unit of this.#units) {
      unit.pings += 1;
      if (unit.pings > (PINGS[unit.name] ?? Infinity)) overdue ??= unit.name;
    }
    return overdue;
  }

  /** The same object, whose calls are watched from now on, and those of all handles that it gives. */
  watch<T extends object>(handle: T): T {
    for (const name of Object.keys(PINGS)) {
      const method = (handle as Record<string, unknown>)[name];
      if (typeof method !== 'function') continue;
      const watched = (...given: unknown[]): unknown =>
        this.#follow(name, (method as Method).apply(handle, given));
      Object.defineProperty(handle, name, { value: watched, configurable: true, writable: true });
    }
    return handle;
  }

  #follow(name: string, result: unknown): unknown {
    if (!(result instanceof Promise)) return result;
    const unit = { name, pings: 0 };
    this.#units.add(unit);
    return result.then(
      (value: unknown) => {
        this.#units.delete(unit);
        return typeof value === 'object' && value !== null ? this.watch(value) : value;
      },
      (error: unknown) => {
        this.#units.delete(unit);
        throw error;
      },
    );
  }
}
