/**
 * Translation models that a test controls, behind the addon's contract: words are tokens, a translation is its source
 * between the name of the model and a full stop, and batches wait for the test when it says so.
 */
import type {
  NativeBinding,
  TranslationBatch,
  TranslationInput,
  TranslationModel,
  TranslationOptions,
  Translator,
} from '../../src/engine/binding.js';
import { nativeError, refuseCall } from '../engine/native-error.js';

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
  decode: (source: readonly string[], model: string, options: TranslationOptions) => string[] = (source, model) => [
    `(${model})`,
    ...source,
  ];
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
    let closed = false;
    const open = <T>(work: () => T): T => {
      refuseCall({ closed });
      return work();
    };
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
      createTranslator: async () => Promise.resolve(open(() => this.translator(path))),
      tokenize: async (texts) => Promise.resolve(open(() => texts.map((text) => text.split(/\s+/).filter(Boolean)))),
      detokenize: async (lists) => Promise.resolve(open(() => lists.map((tokens) => tokens.join(' ')))),
      hasSourceToken: () => open(() => true),
      hasTargetToken: () => open(() => true),
      close: () => {
        if (!closed) this.openModels--;
        closed = true;
      },
    };
  }

  private translator(model: string): Translator {
    this.openTranslators++;
    const handle = { closed: false, busy: false };
    return {
      translate: async (inputs, options, call) => {
        if (call?.signal?.aborted === true) throw nativeError('aborted');
        refuseCall(handle);
        handle.busy = true;
        const batch: FakeBatch = { model, inputs, options, aborted: false };
        this.batches.push(batch);
        this.mostRunning = Math.max(this.mostRunning, ++this.running);
        try {
          return await this.work(batch, call?.signal);
        } finally {
          this.running--;
          handle.busy = false;
        }
      },
      close: () => {
        if (!handle.closed) this.openTranslators--;
        handle.closed = true;
      },
    };
  }

  private async work(batch: FakeBatch, signal: AbortSignal | undefined): Promise<TranslationBatch> {
    const { inputs, options, model } = batch;
    let onAbort = (): void => undefined;
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => {
        batch.aborted = true;
        reject(nativeError('aborted'));
      };
    });
    signal?.addEventListener('abort', onAbort);
    try {
      const done = this.gate ?? new Promise((resolve) => setImmediate(resolve));
      await Promise.race([done, aborted]);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
    const error = this.failWith(inputs);
    if (error !== null) throw error;
    const results = inputs.map(({ source, targetPrefix = [] }) => [
      { tokens: [...targetPrefix, ...this.decode(source, model, options)], score: -1 },
    ]);
    return { results, timings: { encodeMs: 1, totalMs: 2, tokensIn: 3, tokensOut: 4 } };
  }
}
