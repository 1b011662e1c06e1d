import { loadBinding, type TranslationOptions, type Translator } from '../../src/engine/binding.js';
import { overriding } from './overriding.js';

export interface TranslationCall {
  /** Of the translator. */
  threads: number;
  /** Decoded in this call. */
  sentences: number;
  options: TranslationOptions;
}

/** The translations that the addon was asked for while `work` ran in this process. */
export async function translationCalls(work: () => Promise<unknown>): Promise<TranslationCall[]> {
  const binding = loadBinding();
  const calls: TranslationCall[] = [];
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is put back
  const load = binding.loadTranslationModel;
  binding.loadTranslationModel = async (...words) => {
    const model = await load(...words);
    return overriding(model, {
      createTranslator: async ({ threads }) => {
        const translator = await model.createTranslator({ threads });
        const translate: Translator['translate'] = (inputs, options, call) => {
          calls.push({ threads, sentences: inputs.length, options });
          return translator.translate(inputs, options, call);
        };
        return overriding(translator, { translate });
      },
    });
  };
  try {
    await work();
  } finally {
    binding.loadTranslationModel = load;
  }
  return calls;
}
