/** The addon with a beam of another size than `serve` ever asks for. */
import type { NativeBinding, Recogniser, Slot, SpeechModel } from '../../src/engine/binding.js';

/** Windows are decoded with a beam of this size, 1 being greedy. */
export function withBeam(binding: NativeBinding, beamSize: number): NativeBinding {
  return {
    ...binding,
    loadSpeechModel: async (...load) => slotsWithBeam(await binding.loadSpeechModel(...load), beamSize),
    loadRecogniser: async (...load) => flightsWithBeam(await binding.loadRecogniser(...load), beamSize),
  };
}

function slotsWithBeam(model: SpeechModel, beamSize: number): SpeechModel {
  const withBeamSize = (slot: Slot): Slot => ({
    transcribe: (window, options, call) => slot.transcribe(window, { ...options, beamSize }, call),
    close: () => slot.close(),
  });
  return {
    info: model.info,
    createSlot: async (options) => withBeamSize(await model.createSlot(options)),
    close: () => model.close(),
  };
}

function flightsWithBeam(model: Recogniser, beamSize: number): Recogniser {
  return {
    info: model.info,
    longestWindowSeconds: model.longestWindowSeconds,
    openWindow: (window, options) => model.openWindow(window, { ...options, beamSize }),
    createEncoder: (options) => model.createEncoder(options),
    createBatch: () => model.createBatch(),
    close: () => model.close(),
  };
}
