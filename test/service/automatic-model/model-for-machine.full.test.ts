/** The model that the command line offers a machine which was not measured before: by a real measurement. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { LEAST_SPEED } from '../../../src/models/automatic-model.js';
import { findModel } from '../../../src/models/manifest.js';
import { modelBytes } from '../../../src/models/store.js';
import { readManifest } from '../../../src/models/read-manifest.js';
import { packageRoot } from '../../../src/package-root.js';
import { knownModelForMachine, modelForMachine } from '../../../src/service/automatic-model/model-for-machine.js';
import { keepSpeeds, readSpeeds } from '../../../src/service/automatic-model/speed-file.js';
import { readConfig } from '../../../src/service/config.js';
import { bytesFor } from '../../../src/service/model-memory.js';
import { ModelHub } from '../../support/model-hub.js';

const NAME = 'tiny-q8_0';

describe('The model for a machine', function () {
  this.timeout(240_000);
  let directory: string;
  let hub: ModelHub;
  const { HF_ENDPOINT } = process.env;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-for-'));
    hub = await ModelHub.start();
    process.env['HF_ENDPOINT'] = hub.url;
  });
  afterEach(async () => {
    if (HF_ENDPOINT === undefined) delete process.env['HF_ENDPOINT'];
    else process.env['HF_ENDPOINT'] = HF_ENDPOINT;
    await hub.close();
    rmSync(directory, { recursive: true });
  });

  it('is measured once, kept, and known from then on', async () => {
    const config = readConfig({ VERBATIM_DATA_DIR: join(directory, 'data') }, packageRoot);
    const manifest = readManifest(packageRoot, directory);
    const context = { config, roots: { packageRoot, modelsDir: join(directory, 'models') }, manifest };
    expect(knownModelForMachine(context)).to.equal(null);
    const bytes = modelBytes(findModel(manifest, NAME))!;
    const events: string[] = [];
    const calls = {
      signal: new AbortController().signal,
      keep: keepSpeeds,
      onMeasuring: () => void events.push('measuring'),
      onMeasured: (model: string) => void events.push(model),
      // For the smallest one alone.
      room: () => bytesFor(bytes),
    };
    const outcome = async (): Promise<unknown> =>
      modelForMachine(context, calls).catch((error: unknown) => (error as Error).message);
    const first = await outcome();
    expect(events).to.deep.equal(['measuring', NAME]);
    const speed = readSpeeds(config)![NAME]!;
    if (speed >= LEAST_SPEED) expect(first).to.deep.equal({ name: NAME, speed, bytes, isInstalled: false });
    else expect(first).to.contain(`${NAME} would run at ${speed.toFixed(1)} times real time`);
    expect(await outcome()).to.deep.equal(first);
    expect(events).to.have.length(2);
  });
});
