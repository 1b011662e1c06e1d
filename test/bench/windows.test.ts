import { expect } from 'chai';
import { createBenchEngine, transcribeClip } from '../../bench/engine/bench-engine.js';
import { loadBinding, type DecodeOptions, type NativeBinding } from '../../src/engine/binding.js';
import { findModel, windowPolicy } from '../../src/models/manifest.js';
import { readManifest } from '../../src/models/read-manifest.js';
import { modelPath } from '../../src/models/store.js';
import { packageRoot } from '../../src/package-root.js';
import { join } from 'node:path';
import type { SpeechDecoder } from '../../src/engine/speech/speech-models.js';
import { overriding } from '../support/overriding.js';
import { samplePath } from '../native/support.js';

const modelsDir = join(packageRoot, 'models');

/** The addon, which records how its windows were to be decoded. */
function reported(binding: NativeBinding, asked: DecodeOptions[]): NativeBinding {
  return {
    ...binding,
    loadSpeechModel: async (...load) => {
      const model = await binding.loadSpeechModel(...load);
      return {
        info: model.info,
        close: () => model.close(),
        createSlot: async (options) => {
          const slot = await model.createSlot(options);
          return {
            close: () => slot.close(),
            transcribe: (window, decode, call) => {
              asked.push(decode);
              return slot.transcribe(window, decode, call);
            },
          };
        },
      };
    },
    loadRecogniser: async (...load) => {
      const model = await binding.loadRecogniser(...load);
      return overriding(model, {
        openWindow: (window, decode) => {
          asked.push(decode);
          return model.openWindow(window, decode);
        },
      });
    },
  };
}

const DECODERS: readonly SpeechDecoder[] = [
  { kind: 'whisper.cpp' },
  { kind: 'batched', compute: 'auto', windowsInFlight: 4 },
];

describe('The engine of a benchmark', () => {
  for (const decoder of DECODERS)
    it(`decodes every window with the beam of its cell, with ${decoder.kind}`, async () => {
      const manifest = readManifest(packageRoot, modelsDir);
      const entry = findModel(manifest, manifest.defaultSpeechModel);
      if (entry.kind !== 'speech') throw new Error('The default is a speech model.');
      const cell = {
        ...{ modelPath: modelPath({ packageRoot, modelsDir }, entry), devices: ['cpu'] },
        ...{ slots: 1, threads: 1, beam: 3 },
        decoder,
      };
      const asked: DecodeOptions[] = [];
      const setting = {
        cell,
        policy: windowPolicy(manifest, entry),
        languages: null,
        accelerator: 'off',
      } as const;
      const engine = await createBenchEngine(reported(loadBinding(), asked), setting);
      try {
        const clip = { path: samplePath('en-wav16.wav'), language: 'en' };
        await transcribeClip(engine, clip, 'given', 'bench');
        expect(asked).to.have.length.above(0);
        for (const { beamSize, language } of asked) expect([beamSize, language]).to.deep.equal([3, 'en']);
      } finally {
        await engine.close();
      }
    });
});
