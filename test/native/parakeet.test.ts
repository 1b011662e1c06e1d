/** A second family of models behind the same contract: what a model cannot do is refused by name. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AcceleratorMode, DecodeOptions, Slot, SpeechModel, WindowPolicy } from '../../src/engine/binding.js';
import { writeParakeetModel } from '../support/parakeet-model.js';
import { binding, failure, firstWindow, inDirectory, MODEL, samplePath } from './support.js';

const WHOLE: WindowPolicy = {
  maxSeconds: 30,
  cut: 'pause',
  minPauseSeconds: 0.15,
  searchSeconds: 6,
  ownLength: true,
};
const CLIP = samplePath('en-wav16.wav');

describe('Addon: a Parakeet model', () => {
  const withModel = (act: (model: SpeechModel, path: string) => Promise<void>): Promise<void> =>
    inDirectory(async (directory) => {
      const path = join(directory, 'parakeet.bin');
      writeParakeetModel(path);
      const model = await binding.loadSpeechModel(path, { device: 'cpu', accelerator: 'auto' });
      try {
        await act(model, path);
      } finally {
        model.close();
      }
    });
  const withSlot = (act: (slot: Slot) => Promise<void>): Promise<void> =>
    withModel(async (model) => {
      const slot = await model.createSlot({ threads: 1 });
      try {
        await act(slot);
      } finally {
        slot.close();
      }
    });

  it('is identified from its file, and says what it can be asked for', () =>
    withModel(async (model) => {
      const whisper = await binding.loadSpeechModel(MODEL, { device: 'cpu', accelerator: 'auto' });
      expect(model.info).to.deep.include({
        family: 'parakeet',
        type: 'custom',
        weightType: 'f32',
        languages: [],
        device: 'cpu',
        accelerator: whisper.info.accelerator,
        abilities: {
          ...{ detectsLanguage: false, translates: false, takesPrompt: false, takesTemperature: false },
          ...{ takesPrefix: false, timesWords: true },
        },
      });
      expect(model.info.memoryBytes).to.be.greaterThan(10_000);
      whisper.close();
    }));

  it('decodes a window, with words and with how it came to them, the same every time', () =>
    withSlot(async (slot) => {
      const window = await firstWindow(CLIP, WHOLE);
      const options = { language: 'en', align: true, describe: true };
      const result = await slot.transcribe(window, options);
      expect(result.language).to.equal('en');
      expect(result.languageProbabilities).to.equal(null);
      expect(result.scoredTokens).to.be.greaterThan(5);
      expect(result.averageLogProbability).to.be.lessThan(0);
      let at = window.startSeconds;
      for (const { text, words = [], decoding, startSeconds, endSeconds } of result.segments) {
        expect(words.map((word) => word.text).join('')).to.equal(text);
        expect(decoding?.tokens).to.not.be.empty;
        expect(decoding).to.include({ temperature: 0, windowStartSeconds: window.startSeconds });
        expect([startSeconds, endSeconds]).to.deep.equal([words[0]!.startSeconds, words.at(-1)!.endSeconds]);
        for (const word of words) {
          expect(word.startSeconds).to.be.at.least(at);
          expect(word.endSeconds).to.be.within(word.startSeconds, window.endSeconds);
          at = word.endSeconds;
        }
      }
      const again = await slot.transcribe(window, options);
      expect(again.segments).to.deep.equal(result.segments);
      window.release();
    }));

  it('refuses by name what only others can do', () =>
    withSlot(async (slot) => {
      const window = await firstWindow(CLIP, WHOLE);
      const refusal = async (options: Partial<DecodeOptions>): Promise<[string, string]> => {
        const { code, message } = await failure(slot.transcribe(window, { language: 'en', ...options }));
        return [code, message.split(' ')[0] ?? ''];
      };
      expect(await refusal({ language: 'auto' })).to.deep.equal(['unsupported_language', 'language']);
      expect(await refusal({ task: 'translate' })).to.deep.equal(['invalid_argument', 'task']);
      expect(await refusal({ beamSize: 4 })).to.deep.equal(['invalid_argument', 'beam_size']);
      expect(await refusal({ temperature: 0.4 })).to.deep.equal(['invalid_argument', 'temperature']);
      expect(await refusal({ initialPrompt: 'Verbatim' })).to.deep.equal(['invalid_argument', 'initial_prompt']);
      window.release();
    }));

  it('is not for the engine’s own decoder, which says what decodes it', () =>
    withModel(async (_model, path) => {
      const error = await failure(binding.loadRecogniser(path, { device: 'cpu' }));
      expect(error).to.include({ code: 'invalid_argument' });
      expect(error.message).to.contain('is a Parakeet model, which whisper.cpp decodes');
    }));

  it('is computed as the setting says, and names its accelerator', () =>
    withModel(async (model, path) => {
      const named = async (accelerator: AcceleratorMode): Promise<string> => {
        const loaded = await binding.loadSpeechModel(path, { device: 'cpu', accelerator });
        const { accelerator: name } = loaded.info;
        loaded.close();
        return name;
      };
      expect(await named('off')).to.equal('');
      expect(await named('auto')).to.equal(model.info.accelerator);
      expect(await named('float32')).to.equal(model.info.accelerator === '' ? '' : 'onednn float32');
    }));

  it('takes no alignment heads', () =>
    withModel(async (_model, path) => {
      const load = (options: object) => failure(binding.loadSpeechModel(path, { device: 'cpu', ...options }));
      expect(await load({ alignmentHeads: [{ layer: 0, head: 0 }] })).to.include({
        code: 'invalid_argument',
      });
    }));

  it('is refused when its file lies or ends early, and Whisper’s goes on loading', () =>
    withModel(async (_model, path) => {
      const bytes = readFileSync(path);
      const load = async (changed: Buffer): Promise<string> => {
        writeFileSync(path, changed);
        const error = await failure(binding.loadSpeechModel(path, { device: 'cpu' }));
        expect(error).to.include({ code: 'invalid_model' });
        return error.message;
      };
      expect(await load(bytes.subarray(0, bytes.length - 1))).to.contain('parakeet.bin: the model file is truncated');
      const lying = Buffer.from(bytes);
      // The layers of the prediction network: whisper.cpp has room for two.
      lying.writeInt32LE(3, 4 * 13);
      expect(await load(lying)).to.contain('number of prediction layers is 3, allowed: 1 to 2');
      (await binding.loadSpeechModel(MODEL, { device: 'cpu' })).close();
    }));

  it('is aborted, and its slot stays usable', () =>
    withSlot(async (slot) => {
      const window = await firstWindow(CLIP, WHOLE);
      // A window may be done before the abort is seen: one of the next is not.
      let error: unknown = null;
      while (error === null) {
        const controller = new AbortController();
        const running = slot.transcribe(window, { language: 'en' }, { signal: controller.signal });
        controller.abort();
        error = await running.then(
          () => null,
          (reason: unknown) => reason,
        );
      }
      expect(error).to.include({ code: 'aborted' });
      expect((await slot.transcribe(window, { language: 'en' })).language).to.equal('en');
      window.release();
    }));
});
