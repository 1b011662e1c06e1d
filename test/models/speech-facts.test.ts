/** What is known of an installed speech model without loading it, compared with what its engine reports. */
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { register } from '../../src/models/import.js';
import { speechFacts } from '../../src/models/speech-facts.js';
import { readManifest } from '../../src/models/read-manifest.js';
import { modelPath } from '../../src/models/store.js';
import { packageRoot } from '../../src/package-root.js';
import { readConfig } from '../../src/service/config.js';
import { configuredModel, loadEngine } from '../../src/service/speech-engine.js';
import { importParakeet } from '../support/parakeet-model.js';
import { smallModel } from '../support/small-model.js';

describe('What is known of a speech model before it is loaded', () => {
  let directory: string;
  before(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-facts-'))));
  after(() => rmSync(directory, { recursive: true }));

  async function expectSame(environment: Record<string, string>): Promise<void> {
    const config = readConfig({ VERBATIM_DEVICE: 'cpu', VERBATIM_ACCEL: 'off', ...environment }, packageRoot);
    const roots = { packageRoot, modelsDir: config.modelsDir };
    const manifest = readManifest(packageRoot, config.modelsDir);
    const { entry } = configuredModel(config, roots, manifest);
    const engine = await loadEngine(config, roots, manifest);
    try {
      const facts = speechFacts(entry, modelPath(roots, entry));
      expect(engine.info).to.deep.include({ ...facts });
    } finally {
      await engine.close();
    }
  }

  it('is what the engine reports of the bundled model', () => expectSame({}));

  it('is what it reports of a model of Whisper’s, with every language or with some, translating or not', async () => {
    const file = 'random.bin';
    writeFileSync(join(directory, file), await smallModel());
    const entry = { kind: 'speech', file, licence: 'none', source: 'test', windows: 'full' } as const;
    register(directory, { ...entry, name: 'all', languages: 'whisper', translates: true });
    register(directory, { ...entry, name: 'some', languages: ['de', 'en', 'jv', 'xx'] });
    register(directory, { ...entry, name: 'one', languages: ['de'] });
    for (const name of ['all', 'some', 'one'])
      await expectSame({ VERBATIM_MODELS_DIR: directory, VERBATIM_MODEL: name });
  });

  it('is of a file’s number of tokens: English alone, or one language more since large-v3', () => {
    const languagesOf = (tokens: number): readonly string[] => {
      const path = join(directory, `${tokens}.bin`);
      writeFileSync(path, Buffer.from(Int32Array.of(0x67676d6c, tokens).buffer));
      const entry = { kind: 'speech', file: '', licence: 'none', source: 'test', windows: 'full' } as const;
      return speechFacts({ ...entry, name: 'one', languages: 'whisper' }, path).languages;
    };
    expect(languagesOf(51_864)).to.deep.equal(['en']);
    expect(languagesOf(51_865)).to.have.length(99).and.not.include('yue');
    expect(languagesOf(51_866)).to.have.length(100).and.include('yue');
  });

  it('is what it reports of a Parakeet model', async () => {
    await expectSame(await importParakeet(directory));
  });
});
