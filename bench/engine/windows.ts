/** The addon with something around the transcription of every window: what `serve` never asks for. */
import type {
  AudioWindow,
  DecodeOptions,
  NativeBinding,
  Recogniser,
  Slot,
  SpeechModel,
  WindowInFlight,
  WindowResult,
} from '../../src/engine/binding.js';

/** What is put around a window, on whichever decoder. */
interface Around {
  options?: (options: DecodeOptions) => DecodeOptions;
  done?: (window: AudioWindow, result: WindowResult) => void;
}

function aroundWindows(binding: NativeBinding, around: Around): NativeBinding {
  return {
    ...binding,
    loadSpeechModel: async (...load) => withSlots(await binding.loadSpeechModel(...load), around),
    loadRecogniser: async (...load) => withFlights(await binding.loadRecogniser(...load), around),
  };
}

function withSlots(model: SpeechModel, { options: change, done }: Around): SpeechModel {
  const around =
    (slot: Slot): Slot['transcribe'] =>
    async (window, options, call) => {
      const result = await slot.transcribe(window, change?.(options) ?? options, call);
      done?.(window, result);
      return result;
    };
  return {
    info: model.info,
    close: () => model.close(),
    createSlot: async (options) => {
      const slot = await model.createSlot(options);
      return { close: () => slot.close(), transcribe: around(slot) };
    },
  };
}

function withFlights(model: Recogniser, { options: change, done }: Around): Recogniser {
  return {
    info: model.info,
    longestWindowSeconds: model.longestWindowSeconds,
    createEncoder: (options) => model.createEncoder(options),
    createBatch: () => model.createBatch(),
    decoderHeads: model.decoderHeads,
    alignText: (window, options, call) => model.alignText(window, options, call),
    close: () => model.close(),
    openWindow: (window, options) => {
      const flight = model.openWindow(window, change?.(options) ?? options);
      if (done !== undefined) onResult(flight, (result) => done(window, result));
      return flight;
    },
  };
}

/** On the handle itself: encoder and batch take no other. */
function onResult(flight: WindowInFlight, done: (result: WindowResult) => void): void {
  const take = flight.result.bind(flight);
  const value = (): WindowResult => {
    const result = take();
    done(result);
    return result;
  };
  Object.defineProperty(flight, 'result', { value });
}

/** Every window's result is kept in `results` by the window's start, seconds. */
export function keepingResults(binding: NativeBinding, results: Map<number, WindowResult>): NativeBinding {
  return aroundWindows(binding, {
    done: ({ startSeconds }, result) => void results.set(startSeconds, result),
  });
}

/** Windows are decoded with a beam of this size, 1 being greedy. */
export function withBeam(binding: NativeBinding, beamSize: number): NativeBinding {
  return aroundWindows(binding, { options: (options) => ({ ...options, beamSize }) });
}
