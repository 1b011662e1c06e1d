/** The addon's translation models, with batches that can be made to last until somebody aborts them. */
import type { NativeBinding, TranslationModel, Translator } from '../../src/engine/binding.js';

export class EndlessTranslation implements Pick<NativeBinding, 'loadTranslationModel'> {
  /** While true, a translator runs its batch again and again; only an abort ends it. */
  endless = false;
  /** Batches that have been through the model while `endless`. */
  rounds = 0;

  constructor(private readonly binding: Pick<NativeBinding, 'loadTranslationModel'>) {}

  async loadTranslationModel(
    ...parameters: Parameters<NativeBinding['loadTranslationModel']>
  ): Promise<TranslationModel> {
    const model = await this.binding.loadTranslationModel(...parameters);
    return {
      info: model.info,
      createTranslator: async (options) => this.repeating(await model.createTranslator(options)),
      tokenize: (texts) => model.tokenize(texts),
      detokenize: (tokens) => model.detokenize(tokens),
      hasSourceToken: (token) => model.hasSourceToken(token),
      hasTargetToken: (token) => model.hasTargetToken(token),
      close: () => model.close(),
    };
  }

  protected repeating(translator: Translator): Translator {
    return {
      translate: async (inputs, options, call) => {
        let batch = await translator.translate(inputs, options, call);
        while (this.endless) {
          this.rounds++;
          batch = await translator.translate(inputs, options, call);
        }
        return batch;
      },
      close: () => translator.close(),
    };
  }
}
