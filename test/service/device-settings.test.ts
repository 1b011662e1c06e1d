/**
 * What the engines of one device make of settings that name several: the addon is a fake, since there is no GPU to be
 * had.
 */
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readManifest } from '../../src/models/read-manifest.js';
import { hashFile } from '../../src/models/store.js';
import { packageRoot } from '../../src/package-root.js';
import { readConfig } from '../../src/service/config.js';
import { loadEngines, type Engines } from '../../src/service/engines.js';
import { writeTuned } from '../../src/service/tuned.js';
import { FakeBinding } from '../engine/fake-binding.js';
import { FakeClock } from '../engine/fake-clock.js';
import { MODEL } from '../native/support.js';

const OBSERVER = { windowDone: () => undefined, batchDone: () => undefined };

describe('The engines of one of several devices', () => {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-device-'));
  const workingDirectory = process.cwd();
  let binding: FakeBinding;

  before(() => process.chdir(directory));
  after(() => {
    process.chdir(workingDirectory);
    rmSync(directory, { recursive: true });
  });

  const load = async (
    device: string | null,
    environment: Record<string, string> = {},
    seen = ['cpu', 'cuda:0'],
  ): Promise<Engines> => {
    binding = new FakeBinding(new FakeClock(), { devices: seen });
    const config = readConfig({ VERBATIM_DEVICE: 'cuda:0,1', ...environment }, packageRoot);
    const { modelsDir } = config;
    const manifest = readManifest(packageRoot, modelsDir);
    const settings = { config, roots: { packageRoot, modelsDir }, manifest, env: {}, device };
    const engines = await loadEngines(settings, { observer: OBSERVER, binding });
    await engines.speech.close();
    await engines.translation.close();
    return engines;
  };
  const refused = (device: string | null, environment?: Record<string, string>, seen?: string[]) =>
    load(device, environment, seen).then(
      () => expect.fail('was let in'),
      (error: unknown) => (error as Error).message,
    );

  it('have that one, which their process alone sees, and say what the server’s settings are', async () => {
    const { info } = await load('cuda:1');
    expect(info.devices.ids).to.deep.equal(['cuda:1']);
    expect(binding.loadOptions.map(({ device }) => device)).to.deep.equal(['cuda:0']);
    expect(info.config.deviceSetting).to.equal('cuda:0,1');
  });

  it('can decode in a batch, which is one device’s', async () => {
    const batched = { VERBATIM_SPEECH_DECODER: 'batched' };
    expect((await load('cuda:1', batched)).info.decoder).to.include({ kind: 'batched' });
    expect(await refused(null, batched, ['cpu', 'cuda:0', 'cuda:1'])).to.contain('batched on one device');
  });

  it('are refused where theirs is not there', async () => {
    expect(await refused('cuda:1', {}, ['cpu'])).to.contain('Device "cuda:1" is not available');
  });

  it('take what was tuned for all of them together', async () => {
    writeTuned({
      ...{ version: 1, model: { name: 'verbatim-small', sha256: await hashFile(MODEL, 'sha256') } },
      ...{ devices: ['cuda:0', 'cuda:1'], accelerator: 'auto', decoder: 'whisper.cpp', compute: 'auto' },
      ...{ cpu: 'a processor', cores: availableParallelism(), slots: 3, threads: 2, batch: null },
      ...{ rtfx: 30, defaultRtfx: 20, gain: 1.5, tunedAt: '2026-01-01T00:00:00.000Z' },
    });
    const { info } = await load('cuda:1');
    expect(info.tuned).to.contain('3 slots x 2 threads');
    expect(info.config).to.include({ slots: 3, threads: 2 });
    expect(binding.slotsMade).to.equal(3);
  });
});
