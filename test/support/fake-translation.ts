/**
 * Translation models that a test controls, behind the addon's contract: words are tokens, a translation is its
 * source between the name of the model and a full stop, and batches wait for the test when it says so.
 */
import type {
  NativeBinding,
  TranslationBatch,
  TranslationInput,
  TranslationModel,
  TranslationOptions,
  Translator,
} from '../../src/engine/binding.js';
import { nativeError } from '../engine/fake-binding.js';

export interface FakeBatch {
  model: string;
  inputs: readonly TranslationInput[];
  options: TranslationOptions;
  aborted: boolean;
}

export class FakeTranslation implements Pick<NativeBinding, 'loadTranslationModel'> {
  readonly batches: FakeBatch[] = [];
  readonly loaded: string[] = [];
  maxSourceTokens = 0;
  running = 0;
  mostRunning = 0;
  openTranslators = 0;
  openModels = 0;
  /** What a sentence becomes; by default itself, marked with the model. */
  decode: (source: readonly string[], model: string, options: TranslationOptions) => string[] = (
    source,
    model,
  ) => [`(${model})`, ...source];
  /** The error a batch fails with, if it does. */
  failWith: (inputs: readonly TranslationInput[]) => Error | null = () => null;
  private gate: Promise<void> | null = null;
  private openGate = (): void => undefined;

  hold(): void {
    this.gate = new Promise((resolve) => (this.openGate = resolve));
  }

  release(): void {
    this.openGate();
    this.gate = null;
  }

  async untilRunning(count: number): Promise<void> {
    while (this.running < count) await new Promise((resolve) => setImmediate(resolve));
  }

  async loadTranslationModel(path: string): Promise<TranslationModel> {
    await Promise.resolve();
    if (path === 'missing') throw nativeError('io_error');
    this.loaded.push(path);
    this.openModels++;
    return {
      info: {
        backend: 'ggml',
        device: 'cpu',
        computeType: 'float32',
        memoryBytes: 1,
        sourceVocabulary: 10,
        targetVocabulary: 10,
        unkToken: '<unk>',
        bosToken: '<s>',
        eosToken: '</s>',
        decoderStartToken: '</s>',
        addsSourceBos: false,
        addsSourceEos: true,
        wantsSourceEos: false,
        hasTokenizer: true,
        maxSourceTokens: this.maxSourceTokens,
        maxTargetTokens: 0,
      },
      createTranslator: () => Promise.resolve(this.translator(path)),
      tokenize: (texts) => Promise.resolve(texts.map((text) => text.split(/\s+/).filter(Boolean))),
      detokenize: (lists) => Promise.resolve(lists.map((tokens) => tokens.join(' '))),
      hasSourceToken: () => true,
      hasTargetToken: () => true,
      close: () => {
        this.openModels--;
      },
    };
  }

  private translator(model: string): Translator {
    this.openTranslators++;
    let busy = false;
    return {
      translate: async (inputs, options, call) => {
        if (busy) throw new Error('Calls on a translator overlap.');
        busy = true;
        const batch: FakeBatch = { model, inputs, options, aborted: false };
        this.batches.push(batch);
        this.mostRunning = Math.max(this.mostRunning, ++this.running);
        try {
          return await this.work(batch, call?.signal);
        } finally {
          this.running--;
          busy = false;
        }
      },
      close: () => {
        this.openTranslators--;
      },
    };
  }

  private async work(batch: FakeBatch, signal: AbortSignal | undefined): Promise<TranslationBatch> {
    const { inputs, options, model } = batch;
    const aborted = new Promise<never>((_resolve, reject) => {
      signal?.addEventListener('abort', () => {
        batch.aborted = true;
        reject(nativeError('aborted'));
      });
    });
    await Promise.race([this.gate ?? new Promise((resolve) => setImmediate(resolve)), aborted]);
    const error = this.failWith(inputs);
    if (error !== null) throw error;
    const results = inputs.map(({ source, targetPrefix = [] }) => [
      { tokens: [...targetPrefix, ...this.decode(source, model, options)], score: -1 },
    ]);
    return { results, timings: { encodeMs: 1, totalMs: 2, tokensIn: 3, tokensOut: 4 } };
  }
}
