/** A Parakeet model from its import to a transcript, on the real addon. */
import { join } from 'node:path';
import { expect } from 'chai';
import type { SpeechEngine } from '../../src/engine/types.js';
import { readManifest } from '../../src/models/read-manifest.js';
import { packageRoot } from '../../src/package-root.js';
import { readConfig } from '../../src/service/config.js';
import { importSpeech, type SpeechImport } from '../../src/service/model-store.js';
import { loadEngine } from '../../src/service/speech-engine.js';
import { failure, inDirectory, samplePath } from '../native/support.js';
import { measureAndTranscribe } from '../support/transcribe.js';
import { writeParakeetModel } from '../support/parakeet-model.js';

const CLIP = samplePath('en-wav16.wav');

/** Writes one and imports it into a directory of its own; `env` is of the engine that is loaded with it. */
async function withImported(
  options: Partial<SpeechImport>,
  act: (load: (env?: Record<string, string>) => Promise<SpeechEngine>, entry: object) => Promise<void>,
  words: readonly string[] = [],
): Promise<void> {
  await inDirectory(async (modelsDir) => {
    const path = join(modelsDir, 'source.bin');
    writeParakeetModel(path, { words });
    const roots = { packageRoot, modelsDir };
    const manifest = (): ReturnType<typeof readManifest> => readManifest(packageRoot, modelsDir);
    const config = (env: Record<string, string> = {}): ReturnType<typeof readConfig> =>
      readConfig({ VERBATIM_DEVICE: 'cpu', VERBATIM_SLOTS: '1', VERBATIM_MODEL: 'mine', ...env }, packageRoot);
    const entry = await importSpeech(
      path,
      { name: 'mine', translates: false, ...options },
      { config: config(), roots, manifest: manifest() },
    );
    await act((env) => loadEngine(config(env), roots, manifest()), entry);
  });
}

describe('A Parakeet model', () => {
  it('is imported with its languages, its windows and its decoder, and transcribes', () =>
    withImported({ languages: ['en', 'fi'] }, async (load, entry) => {
      expect(entry).to.deep.include({ languages: ['en', 'fi'], windows: 'pauses', decoder: 'whisper.cpp' });
      const engine = await load();
      try {
        expect(engine.info.languages).to.deep.equal(['en', 'fi']);
        expect(engine.info.abilities).to.deep.equal({
          detectsLanguage: true,
          takesPrompt: false,
          takesTemperature: false,
        });
        expect(engine.info).to.include({ translatesToEnglish: false, alignsWords: true });
        const file = { path: CLIP, accountId: 'one' };
        const transcript = await measureAndTranscribe(engine, { ...file, language: 'fi', align: true });
        expect(transcript).to.include({ language: 'fi', languageProbability: null });
        expect(transcript.text).to.match(/w\d/);
        expect(transcript.segments.every(({ words }) => words !== undefined && words.length > 0)).to.equal(true);
        const strange = await failure(measureAndTranscribe(engine, { ...file, language: 'de' }));
        expect(strange).to.include({ code: 'unsupported_language' });
      } finally {
        await engine.close();
      }
    }));

  it('answers the language that its text is in', () =>
    withImported(
      { languages: ['en', 'fi', 'es'] },
      async (load) => {
        const engine = await load();
        try {
          const transcript = await measureAndTranscribe(engine, { path: CLIP, accountId: 'one', language: 'auto' });
          expect(transcript).to.include({ language: 'fi', languageProbability: null });
        } finally {
          await engine.close();
        }
      },
      ['huomenna', 'sataa', 'vettä', 'luulen', 'että', 'kymmenen', 'minuuttia'],
    ));

  it('of languages that no text distinguishes has one named', () =>
    withImported({ languages: ['mt', 'en'] }, async (load) => {
      const engine = await load();
      try {
        expect(engine.info.abilities.detectsLanguage).to.equal(false);
        const file = { path: CLIP, accountId: 'one' };
        const undetected = await failure(measureAndTranscribe(engine, { ...file, language: 'auto' }));
        expect(undetected).to.include({ code: 'unsupported_language' });
        expect(await measureAndTranscribe(engine, { ...file, language: 'mt' })).to.include({ language: 'mt' });
      } finally {
        await engine.close();
      }
    }));

  it('of one language needs none named', () =>
    withImported({ languages: ['en'] }, async (load) => {
      const engine = await load();
      try {
        expect(engine.info.abilities.detectsLanguage).to.equal(true);
        const transcript = await measureAndTranscribe(engine, { path: CLIP, accountId: 'one', language: 'auto' });
        expect(transcript.language).to.equal('en');
      } finally {
        await engine.close();
      }
    }));

  it('is not imported without languages, nor as one that translates', async () => {
    const imported = (options: Partial<SpeechImport>): Promise<Error> =>
      failure(withImported(options, () => Promise.resolve()));
    expect((await imported({})).message).to.contain('give --languages');
    expect((await imported({ languages: ['en', 'fi'], translates: true })).message).to.contain(
      'There is nothing that the model could translate',
    );
  });

  it('is decoded by whisper.cpp, whatever suits the device; another decoder is refused by name', () =>
    withImported({ languages: ['en'] }, async (load) => {
      const error = await failure(load({ VERBATIM_SPEECH_DECODER: 'batched' }));
      expect(error.message).to.equal('VERBATIM_SPEECH_DECODER is "batched"; allowed: auto, whisper.cpp for mine.');
      await (await load({ VERBATIM_SPEECH_DECODER: 'whisper.cpp' })).close();
    }));
});
