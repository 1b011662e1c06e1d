import { expect } from 'chai';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importSpeechModel } from '../../src/models/import.js';
import {
  packedBytes,
  packedDirectory,
  removePackedWeights,
  tidyPackedWeights,
} from '../../src/models/packed-weights.js';
import { packageRoot } from '../../src/package-root.js';

const HOUR_MS = 3_600_000;

describe('packed weights beside the models', () => {
  let modelsDir: string;

  beforeEach(() => (modelsDir = mkdtempSync(join(tmpdir(), 'verbatim-packed-'))));
  afterEach(() => rmSync(modelsDir, { recursive: true }));

  /** A model with packed weights of these sizes. */
  function model(name: string, sizes: Readonly<Record<string, number>>): string {
    const path = join(modelsDir, name);
    writeFileSync(path, name);
    mkdirSync(packedDirectory(path));
    for (const [file, size] of Object.entries(sizes))
      writeFileSync(join(packedDirectory(path), file), Buffer.alloc(size));
    return path;
  }

  function usedAgo(path: string, file: string, ms: number): void {
    const time = new Date(Date.now() - ms);
    utimesSync(join(packedDirectory(path), file), time, time);
  }

  const filesOf = (path: string): string[] => readdirSync(packedDirectory(path)).sort();

  it('counts the weights of a model, and nothing else', () => {
    const path = model('a.bin', { 'encoder-int8.weights': 1000, 'decoder-int8.weights': 200, 'x.part': 50 });
    expect(packedBytes(path)).to.equal(1200);
    expect(packedBytes(join(modelsDir, 'b.bin'))).to.equal(0);
  });

  it('removes what is left of a model that is gone', () => {
    const gone = model('gone.bin', { 'encoder-int8.weights': 10 });
    const stays = model('stays.bin', { 'encoder-int8.weights': 10 });
    rmSync(gone);
    tidyPackedWeights(modelsDir);
    expect(existsSync(packedDirectory(gone))).to.equal(false);
    expect(packedBytes(stays)).to.equal(10);
  });

  it('removes the least recently used files over the limit', () => {
    const one = model('one.bin', { 'encoder-int8.weights': 100, 'decoder-int8.weights': 100 });
    const other = model('other.bin', { 'encoder-int8.weights': 100 });
    usedAgo(one, 'encoder-int8.weights', 2 * HOUR_MS);
    usedAgo(other, 'encoder-int8.weights', HOUR_MS);
    tidyPackedWeights(modelsDir, 300);
    expect(packedBytes(one) + packedBytes(other)).to.equal(300);
    tidyPackedWeights(modelsDir, 299);
    expect(filesOf(one)).to.deep.equal(['decoder-int8.weights']);
    tidyPackedWeights(modelsDir, 199);
    expect(filesOf(one)).to.deep.equal(['decoder-int8.weights']);
    expect(filesOf(other)).to.deep.equal([]);
    tidyPackedWeights(modelsDir, 0);
    expect(filesOf(one)).to.deep.equal([]);
  });

  it('removes files that a crash left behind, and none that is being written', () => {
    const path = model('a.bin', { 'encoder-int8.weights.1.part': 10, 'encoder-int8.weights.2.part': 10 });
    usedAgo(path, 'encoder-int8.weights.1.part', HOUR_MS + 1000);
    tidyPackedWeights(modelsDir);
    expect(filesOf(path)).to.deep.equal(['encoder-int8.weights.2.part']);
  });

  it('does without a directory of models', () => {
    tidyPackedWeights(join(modelsDir, 'nothing'));
    removePackedWeights(join(modelsDir, 'nothing'));
  });

  it('removes the weights of a model that is imported again', async () => {
    const source = join(modelsDir, 'source.bin');
    writeFileSync(source, 'other weights');
    const path = model('ggml-mine.bin', { 'encoder-int8.weights': 10 });
    const abilities = {
      ...{ detectsLanguage: true, translates: true, takesPrompt: true, takesTemperature: true },
      ...{ takesPrefix: true, timesWords: false },
    };
    await importSpeechModel(source, {
      roots: { packageRoot, modelsDir },
      name: 'mine',
      translates: false,
      check: () => Promise.resolve({ family: 'whisper', abilities, languages: ['en'] }),
    });
    expect(statSync(path).size).to.equal('other weights'.length);
    expect(existsSync(packedDirectory(path))).to.equal(false);
  });
});
