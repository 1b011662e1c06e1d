import type { TextToTranslate } from '../translation/translation-engine.js';
import { TranslationRoutes, type RoutedModel } from '../translation/translation-routes.js';
import type { TranslatedSentence, TranslatedText } from '../types.js';
import type { DeviceProcesses } from './device-processes.js';
import type { PlacedWork } from './placement.js';
import { RepeatFilter } from './repeat-filter.js';

/** The translation engine, run in a separate process. Its language pairs depend only on its models. */
export class RemoteTranslator {
  readonly modelNames: string[];
  readonly #routes: TranslationRoutes<RoutedModel>;
  readonly #used = new Set<string>();
  #texts = 0;
  /** When the last translation ended, in milliseconds since 1970. */
  lastUsed = 0;
  /** Awaited before models are used that were not loaded or were unloaded since. */
  beforeLoad: ((models: readonly string[]) => Promise<unknown>) | null = null;

  constructor(
    private readonly process: Pick<DeviceProcesses, 'call'>,
    models: readonly RoutedModel[],
    private readonly now: () => number = Date.now,
  ) {
    this.modelNames = models.map(({ name }) => name);
    this.#routes = new TranslationRoutes(models);
  }

  supports(from: string, to: string): boolean {
    return this.#routes.find(from, to) !== null;
  }

  /** Whether no text is being translated. */
  get isIdle(): boolean {
    return this.#texts === 0;
  }

  /** Models that were used since they were last unloaded. */
  get usedModels(): readonly string[] {
    return [...this.#used];
  }

  unloaded(): void {
    this.#used.clear();
  }

  /** As TranslationEngine.translate(). */
  async translate(input: TextToTranslate): Promise<TranslatedText> {
    const names = (this.#routes.find(input.from, input.to) ?? []).map(({ model }) => model.name);
    const fresh = names.filter((name) => !this.#used.has(name));
    for (const name of fresh) this.#used.add(name);
    this.#texts += 1;
    try {
      if (fresh.length > 0) await this.beforeLoad?.(fresh);
      return await this.#call(input);
    } finally {
      this.#texts -= 1;
      this.lastUsed = this.now();
    }
  }

  #call(input: TextToTranslate): Promise<TranslatedText> {
    const { origin, signal, translated, accountId, text, from, to, background = false } = input;
    const filter = new RepeatFilter<TranslatedSentence>();
    const work: PlacedWork = { kind: 'text', accountId, background, amount: text.length };
    return this.process.call('translate', {
      ...{ origin, signal, work: () => work },
      request: () => {
        filter.begin();
        return { accountId, text, from, to, background, reportsParts: translated !== undefined };
      },
      progress: (part) => {
        const added = filter.add(part.text, [part.sentence]);
        const [sentence] = added?.items ?? [];
        if (added !== null && sentence !== undefined) translated?.({ text: added.text, sentence });
      },
    });
  }
}
