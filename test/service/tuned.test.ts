import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/service/config.js';
import {
  readTuned,
  tunedPath,
  withTuned,
  writeTuned,
  type TunedFor,
  type TunedSettings,
} from '../../src/service/tuned.js';

const found: TunedSettings = {
  version: 1,
  model: { name: 'base', sha256: 'ab'.repeat(32) },
  devices: ['cpu'],
  accelerator: 'auto',
  decoder: 'whisper.cpp',
  compute: 'auto',
  cpu: 'a processor',
  cores: 8,
  slots: 5,
  threads: 3,
  batch: null,
  rtfx: 30,
  defaultRtfx: 20,
  gain: 1.5,
  tunedAt: '2026-01-01T00:00:00.000Z',
};
const now: TunedFor = {
  ...{ modelName: 'base', devices: ['cpu'], decoder: { kind: 'whisper.cpp' as const }, cores: 8 },
  modelSha256: () => Promise.resolve(found.model.sha256),
};

describe('Tuned settings', () => {
  let directory: string;

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-tuned-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  it('are read as they were written, and are none where there is no file', () => {
    const path = tunedPath(directory);
    expect(readTuned(path)).to.equal(null);
    writeTuned(found, path);
    expect(readTuned(path)).to.deep.equal(found);
  });

  it('lie in the file under the names that it has always had', () => {
    const path = tunedPath(directory);
    writeTuned({ ...found, accelerator: 'float32' }, path);
    const stored: unknown = JSON.parse(readFileSync(path, 'utf8'));
    expect(stored).to.have.property('acceleration', 'float32').and.not.to.have.property('accelerator');
  });

  it('of a file from before windows were decoded together are for whisper.cpp', async () => {
    const path = tunedPath(directory);
    writeTuned(found, path);
    const stored = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    writeFileSync(path, JSON.stringify({ ...stored, decoder: undefined, compute: undefined, batch: undefined }));
    expect(readTuned(path)).to.deep.equal(found);
    const config = readConfig({ VERBATIM_SPEECH_DECODER: 'batched' }, directory);
    const decoder = { kind: 'batched', compute: 'int8', windowsInFlight: 8 } as const;
    const { tuned } = await withTuned(config, {}, readTuned(path), { ...now, decoder });
    expect(tuned).to.contain('for the speech decoder whisper.cpp, not batched int8');
  });

  it('of the batched decoder have the windows in flight, and hold for its type', async () => {
    const batched = { ...found, decoder: 'batched', compute: 'int8', batch: 12 } as const;
    const path = tunedPath(directory);
    writeTuned(batched, path);
    expect(readTuned(path)).to.deep.equal(batched);
    const config = readConfig({ VERBATIM_SPEECH_DECODER: 'batched' }, directory);
    const decoder = { kind: 'batched', compute: 'int8', windowsInFlight: 8 } as const;
    const applied = await withTuned(config, {}, batched, { ...now, decoder });
    expect(applied.config).to.include({ slots: 5, threads: 3, batch: 12 });
    expect(applied.tuned).to.contain('5 slots x 3 threads, 12 windows in flight');
    const bfloat16 = { ...decoder, compute: 'bfloat16' } as const;
    const other = await withTuned(config, {}, batched, { ...now, decoder: bfloat16 });
    expect(other.tuned).to.contain('for the speech decoder batched int8, not batched bfloat16');
    const set = await withTuned(config, { VERBATIM_BATCH: '8' }, batched, { ...now, decoder });
    expect(set.tuned).to.contain('VERBATIM_BATCH is set');
  });

  it('are refused by name when the file is not what tune writes', () => {
    const path = tunedPath(directory);
    writeTuned(found, path);
    const stored = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    for (const text of [
      '{',
      'null',
      '{}',
      JSON.stringify({ ...stored, slots: 0 }),
      JSON.stringify({ ...stored, version: 2 }),
      JSON.stringify({ ...stored, model: { name: 'base' } }),
      JSON.stringify({ ...stored, acceleration: undefined }),
      JSON.stringify({ ...stored, decoder: 'fastest' }),
      JSON.stringify({ ...stored, compute: 'float16' }),
      JSON.stringify({ ...stored, batch: 8 }),
      JSON.stringify({ ...stored, decoder: 'batched' }),
      JSON.stringify({ ...stored, decoder: 'batched', batch: 65 }),
    ]) {
      writeFileSync(path, text);
      expect(() => readTuned(path), text).to.throw(Error, path);
    }
  });

  it('replace the defaults, and the log says so', async () => {
    const { config, tuned } = await withTuned(readConfig({}, directory), {}, found, now);
    expect(config).to.include({ slots: 5, threads: 3 });
    expect(config).to.be.frozen;
    expect(tuned).to.contain('5 slots x 3 threads').and.to.contain('1.50 x');
  });

  it('give way to the environment, as a pair', async () => {
    const env = { VERBATIM_THREADS: '2' };
    const before = readConfig(env, directory);
    const { config, tuned } = await withTuned(before, env, found, now);
    expect(config).to.equal(before);
    expect(tuned).to.contain('VERBATIM_THREADS is set');
  });

  it('hold only for the model, device and cores they were found on', async () => {
    const config = readConfig({}, directory);
    const note = async (change: Partial<TunedFor>): Promise<string | null> =>
      (await withTuned(config, {}, found, { ...now, ...change })).tuned;
    expect(await note({ modelName: 'tiny' })).to.contain('for the model base, not tiny');
    expect(await note({ devices: ['cuda:0'] })).to.contain('for the device cpu, not cuda:0');
    expect(await note({ cores: 2 })).to.contain('cores of 8, not 2');
    const other = await note({ modelSha256: () => Promise.resolve('cd'.repeat(32)) });
    expect(other).to.contain('SHA-256 abababababababab, not cdcdcdcdcdcdcdcd');
    const plain = readConfig({ VERBATIM_ACCEL: 'off' }, directory);
    expect((await withTuned(plain, {}, found, now)).tuned).to.contain('VERBATIM_ACCEL auto, not off');
    expect(await withTuned(config, {}, null, now)).to.deep.equal({ config, tuned: null });
  });

  it('do not have the model read when something else sets them aside already', async () => {
    const modelSha256 = (): Promise<string> => Promise.reject(new Error('read'));
    const { tuned } = await withTuned(readConfig({}, directory), {}, found, {
      ...now,
      cores: 2,
      modelSha256,
    });
    expect(tuned).to.contain('cores of 8, not 2');
  });
});
