/** Texts from one language into another: sentences in batches over the models that a route goes through. */
import { VerbatimError } from '../../errors.js';
import { failRequest } from '../native-errors.js';
import type { NativeBinding, TranslationBackend } from '../binding.js';
import { fitSentence, joinText, placesOf, SentenceJoiner, splitEach, splitText } from './sentences.js';
import { TextsInOrder } from './texts-in-order.js';
import { LazyTranslationModel, type TranslationModelSpec } from './translation-model.js';
import { TranslationRoutes, type Hop } from './translation-routes.js';
import { TranslationScheduler, type TranslationObserver } from './translation-scheduler.js';
import { systemTimers, type Timer, type Timers } from '../../timers.js';
import { joinTexts } from '../transcript-text.js';
import type { TranslatedPart, TranslatedText, WorkOrigin } from '../types.js';

export interface TranslationEngineOptions {
  binding: Pick<NativeBinding, 'loadTranslationModel'>;
  models: readonly TranslationModelSpec[];
  device: string;
  backend: TranslationBackend;
  /** Batches in flight. */
  translators: number;
  /** CPU threads a translator. */
  threads: number;
  observer?: TranslationObserver;
  /** After which models that nobody uses are unloaded, milliseconds; default, and null: never. */
  idleMs?: number | null;
  timers?: Timers;
}

export interface TextToTranslate {
  accountId: string;
  origin?: WorkOrigin | undefined;
  text: string;
  from: string;
  to: string;
  /** Whether it takes its turns behind the account's others; default: no. */
  background?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Called with each sentence, in order, as soon as it is translated: joined, their texts are the translation's. */
  translated?: ((part: TranslatedPart) => void) | undefined;
}

/** A sentence, and the parts it was cut into because the model takes no longer ones. */
type Parts = string[];

export class TranslationEngine {
  private readonly models: readonly LazyTranslationModel[];
  private readonly routes: TranslationRoutes<LazyTranslationModel>;
  private readonly scheduler: TranslationScheduler;
  private readonly idleMs: number | null;
  private readonly timers: Timers;
  /** By model, when nobody uses it. */
  private readonly idle = new Map<LazyTranslationModel, Timer>();
  private closing: Promise<void> | null = null;

  constructor(options: TranslationEngineOptions) {
    const { binding, device, backend, threads, idleMs = null, timers = systemTimers } = options;
    this.idleMs = idleMs;
    this.timers = timers;
    this.models = options.models.map((spec) => new LazyTranslationModel(spec, binding, { device, backend }, threads));
    this.routes = new TranslationRoutes(this.models);
    this.scheduler = new TranslationScheduler(options.translators, options.observer);
  }

  /** Whether an installed model, or a pivot over two of them, covers the pair. */
  supports(from: string, to: string): boolean {
    return this.routes.find(from, to) !== null;
  }

  get modelNames(): string[] {
    return this.models.map(({ name }) => name);
  }

  /** Names of the models that a translation goes through; empty when none covers the pair. */
  routeOf(from: string, to: string): string[] {
    return (this.routes.find(from, to) ?? []).map(({ model }) => model.name);
  }

  /** Rejects with signal.reason when aborted, with VerbatimError otherwise. */
  async translate(input: TextToTranslate): Promise<TranslatedText> {
    const { from, to, signal } = input;
    if (this.closing !== null) throw new VerbatimError('shutting_down', 'The server is shutting down.');
    const route = this.routes.find(from, to);
    if (route === null) throw unsupported(from, to);
    const models = [...new Set(route.map(({ model }) => model))];
    const ends = models.map((model) => this.use(model));
    try {
      return await this.follow(route, input);
    } catch (error) {
      return failRequest(error, signal);
    } finally {
      for (const end of ends) end();
    }
  }

  /** The models that nobody uses; the next translation loads them again. */
  async unloadIdle(): Promise<void> {
    for (const model of this.models) await model.unload();
  }

  private use(model: LazyTranslationModel): () => void {
    const { idle, idleMs, timers } = this;
    idle.get(model)?.cancel();
    idle.delete(model);
    const end = model.use();
    return () => {
      end();
      if (idleMs === null || this.closing !== null) return;
      idle.get(model)?.cancel();
      idle.set(
        model,
        timers.after(idleMs, () => void model.unload()),
      );
    };
  }

  /** Translations that run finish first; new ones are refused with `shutting_down`. */
  close(): Promise<void> {
    this.closing ??= this.drain();
    return this.closing;
  }

  private async drain(): Promise<void> {
    await this.scheduler.whenDrained();
    for (const timer of this.idle.values()) timer.cancel();
    for (const model of this.models) await model.close();
  }

  /** White space alone needs no model. */
  private async follow(route: readonly Hop<LazyTranslationModel>[], input: TextToTranslate): Promise<TranslatedText> {
    const { text, from, to } = input;
    const split = await splitText(text, from);
    const sources = split.lines.flat();
    if (sources.length === 0) return { text, sentences: [] };
    const places = placesOf(sources, text);
    const { translated } = input;
    const joiner = new SentenceJoiner(split, to);
    const onText =
      translated &&
      ((index: number, sentence: string): void => {
        const { start, end } = places[index] ?? { start: 0, end: 0 };
        translated({ text: joiner.add(sentence), sentence: { start, end, text: sentence } });
      });
    let texts = sources;
    for (const [index, hop] of route.entries()) {
      // A translated sentence may be several for the next model.
      const sentences = index === 0 ? texts.map((one) => [one]) : await splitEach(texts, hop.from);
      texts = await this.run(sentences, hop, input, index === route.length - 1 ? onText : undefined);
    }
    const sentences = places.map((place, index) => ({ ...place, text: texts[index] ?? '' }));
    let at = 0;
    const lines = split.lines.map((line) => texts.slice(at, (at += line.length)));
    return { text: joinText({ lines, breaks: split.breaks }, to), sentences };
  }

  /** Translates texts, each given as its sentences; `onText`: each translated text, in order, when complete. */
  private async run(
    texts: readonly (readonly string[])[],
    { model, from, to }: Hop<LazyTranslationModel>,
    { accountId, background, signal }: TextToTranslate,
    onText?: (index: number, text: string) => void,
  ): Promise<string[]> {
    const fitted = await this.fit(model, texts.flat(), from, signal);
    const parts = fitted.flat();
    if (parts.length === 0) return texts.map(() => '');
    let sentence = 0;
    const partCounts = texts.map((sentences) =>
      sentences.reduce((count) => count + (fitted[sentence++]?.length ?? 0), 0),
    );
    const tokens = await model.tokenize(parts);
    const inputs = await Promise.all(tokens.map((one) => model.input(one, from, to)));
    signal?.throwIfAborted();
    const detokenize = (first: number, outputs: readonly string[][]): Promise<string[]> =>
      model.detokenize(outputs.map((output, index) => model.plainTokens(output, inputs[first + index], from, to)));
    const onTextParts = (index: number, ofText: readonly string[]): void => {
      if (signal?.aborted !== true) onText?.(index, joinTexts(ofText, to));
    };
    const inOrder = onText && new TextsInOrder(partCounts, { detokenize, reported: onTextParts });
    const done = inOrder && ((index: number, tokens: string[]): void => inOrder.add(index, tokens));
    const outputs = await this.scheduler.run({ accountId, background, model, inputs, signal, done });
    const translated = inOrder ? await inOrder.whole() : await detokenize(0, outputs);
    let part = 0;
    return partCounts.map((count) => joinTexts(translated.slice(part, (part += count)), to));
  }

  /** Cuts what is too long for the model. */
  private async fit(
    model: LazyTranslationModel,
    sentences: readonly string[],
    language: string,
    signal: AbortSignal | undefined,
  ): Promise<Parts[]> {
    const limit = await model.sentenceLimit();
    const count = async (texts: string[]): Promise<number[]> => {
      signal?.throwIfAborted();
      return (await model.tokenize(texts)).map((tokens) => tokens.length);
    };
    const lengths = await count([...sentences]);
    const fitted: Parts[] = [];
    for (const [index, sentence] of sentences.entries()) {
      const fits = (lengths[index] ?? 0) <= limit;
      fitted.push(fits ? [sentence] : await fitSentence(sentence, language, limit, count));
    }
    return fitted;
  }
}

function unsupported(from: string, to: string): VerbatimError {
  const message = `No installed model translates "${from}" into "${to}".`;
  return new VerbatimError('unsupported_translation', message, { param: 'translate_to' });
}
