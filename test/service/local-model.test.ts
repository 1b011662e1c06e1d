/** The installed model that `verbatim transcribe` takes where none is named. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ModelEntry } from '../../src/models/manifest.js';
import { readManifest } from '../../src/models/read-manifest.js';
import { modelPath } from '../../src/models/store.js';
import { packageRoot } from '../../src/package-root.js';
import { writeChosenModel } from '../../src/service/chosen-model.js';
import { readConfig } from '../../src/service/config.js';
import { localModel } from '../../src/service/local-model.js';

describe('The installed model of the command line', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-local-'));
    mkdirSync(join(directory, 'data'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const context = (more: Readonly<Record<string, string>> = {}) => ({
    config: readConfig({ VERBATIM_DATA_DIR: join(directory, 'data'), ...more }, packageRoot),
    roots: { packageRoot, modelsDir: directory },
    manifest: readManifest(packageRoot, directory),
  });
  const install = (name: string, bytes: number): void => {
    const { manifest, roots } = context();
    const entry = manifest.models.find((one) => one.name === name) as ModelEntry;
    writeFileSync(modelPath(roots, entry), Buffer.alloc(bytes));
  };

  it('is the largest, those that know every language first', () => {
    expect(localModel(context())).to.equal(null);
    const installed: [string, number, string][] = [
      ['base.en', 3, 'base.en'],
      ['small.en', 9, 'small.en'],
      ['tiny', 1, 'tiny'],
      ['base-q8_0', 2, 'base-q8_0'],
      ['parakeet-tdt-0.6b-v3', 8, 'base-q8_0'],
      ['silero-vad', 20, 'base-q8_0'],
    ];
    for (const [name, bytes, best] of installed) {
      install(name, bytes);
      expect(localModel(context()), name).to.equal(best);
    }
  });

  it('is what was chosen for a server of the same data before it', () => {
    install('base-q8_0', 1);
    writeChosenModel(join(directory, 'data'), 'verbatim-small');
    expect(localModel(context())).to.equal('verbatim-small');
    writeFileSync(join(directory, 'data', 'model.json'), '{}');
    expect(() => localModel(context())).to.throw('names no model');
  });

  it('is chosen by nobody where VERBATIM_AUTO_MODEL is off', () => {
    install('base-q8_0', 1);
    expect(localModel(context({ VERBATIM_AUTO_MODEL: 'off' }))).to.equal(null);
    writeChosenModel(join(directory, 'data'), 'base-q8_0');
    expect(localModel(context({ VERBATIM_AUTO_MODEL: 'off' }))).to.equal('base-q8_0');
  });
});
