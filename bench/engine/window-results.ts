import type { NativeBinding, SpeechModel, WindowResult } from '../../src/engine/binding.js';

/** The addon, with every window's result kept in `results` by the window's start, seconds. */
export function keepingResults(binding: NativeBinding, results: Map<number, WindowResult>): NativeBinding {
  return {
    ...binding,
    loadSpeechModel: async (...load) => {
      const model = await binding.loadSpeechModel(...load);
      const createSlot: SpeechModel['createSlot'] = async (options) => {
        const slot = await model.createSlot(options);
        return {
          close: () => slot.close(),
          transcribe: async (...call) => {
            const result = await slot.transcribe(...call);
            results.set(call[0].startSeconds, result);
            return result;
          },
        };
      };
      return { info: model.info, close: () => model.close(), createSlot };
    },
  };
}
