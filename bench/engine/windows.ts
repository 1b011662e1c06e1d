/** The addon with something around the transcription of every window: what `serve` never asks for. */
import type { NativeBinding, Slot, SpeechModel, WindowResult } from '../../src/engine/binding.js';

type Transcribe = Slot['transcribe'];

/** `around` is given the slot's own transcribe(). */
function aroundWindows(
  binding: NativeBinding,
  around: (transcribe: Transcribe) => Transcribe,
): NativeBinding {
  return {
    ...binding,
    loadSpeechModel: async (...load) => {
      const model = await binding.loadSpeechModel(...load);
      const createSlot: SpeechModel['createSlot'] = async (options) => {
        const slot = await model.createSlot(options);
        return { close: () => slot.close(), transcribe: around((...call) => slot.transcribe(...call)) };
      };
      return { info: model.info, close: () => model.close(), createSlot };
    },
  };
}

/** Every window's result is kept in `results` by the window's start, seconds. */
export function keepingResults(binding: NativeBinding, results: Map<number, WindowResult>): NativeBinding {
  return aroundWindows(binding, (transcribe) => async (window, ...call) => {
    const result = await transcribe(window, ...call);
    results.set(window.startSeconds, result);
    return result;
  });
}

/** Windows are decoded with a beam of this size, 1 being greedy. */
export function withBeam(binding: NativeBinding, beamSize: number): NativeBinding {
  return aroundWindows(
    binding,
    (transcribe) => (window, options, call) => transcribe(window, { ...options, beamSize }, call),
  );
}
