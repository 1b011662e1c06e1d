/** The measurement of a machine, by the smallest model: its file has random weights, its speed is real. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { findModel } from '../../../src/models/manifest.js';
import { readManifest } from '../../../src/models/read-manifest.js';
import { modelFiles } from '../../../src/models/store.js';
import { packageRoot } from '../../../src/package-root.js';
import { leastRoom, measureMachine } from '../../../src/service/automatic-model/measure-machine.js';
import { withMeasurementDirectory } from '../../../src/service/automatic-model/measurement-directory.js';
import { speedsOfMachine } from '../../../src/service/automatic-model/measurement-process.js';
import { readSpeeds, speedPath, writeSpeeds } from '../../../src/service/automatic-model/speed-file.js';
import { readConfig } from '../../../src/service/config.js';
import { bytesFor } from '../../../src/service/model-memory.js';
import { verbatim } from '../../support/built.js';
import { until } from '../../support/until.js';

const NAME = 'tiny-q8_0';
const neverAborted = new AbortController().signal;

describe('The measurement of a machine', function () {
  this.timeout(240_000);
  let directory: string;

  const { TMPDIR } = process.env;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-measured-'));
    // What others measure meanwhile lies elsewhere.
    process.env['TMPDIR'] = directory;
  });
  afterEach(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
    rmSync(directory, { recursive: true });
  });

  const config = (more: Readonly<Record<string, string>> = {}) =>
    readConfig({ VERBATIM_DATA_DIR: directory, ...more }, packageRoot);
  const manifest = readManifest(packageRoot, '/nonexistent');
  const context = () => ({ config: config(), roots: { packageRoot, modelsDir: directory }, manifest });
  const temporary = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('verbatim-measurement-'));

  it('finds a speed for what there is memory for, keeps it, and leaves no file behind', async () => {
    const [file] = modelFiles(findModel(manifest, NAME));
    const measured: string[] = [];
    const speeds = await measureMachine(context(), {
      signal: neverAborted,
      onMeasured: (model) => measured.push(model),
      room: () => bytesFor(file!.size!),
    });
    expect(measured).to.deep.equal([NAME]);
    expect(Object.keys(speeds)).to.deep.equal([NAME]);
    expect(speeds[NAME]).to.be.above(0);
    expect(temporary()).to.deep.equal([]);
    expect(readSpeeds(config())).to.deep.equal(speeds);
  });

  it('keeps nothing where there is no memory for any model: an hour later there may be', async () => {
    const calls = { signal: neverAborted, onMeasured: () => undefined, room: () => 0 };
    const error: unknown = await measureMachine(context(), calls).catch((thrown: unknown) => thrown);
    expect((error as Error).message).to.contain('not enough free memory');
    expect(readSpeeds(config())).to.equal(null);
  });

  it('is not repeated as long as machine and settings stay', async () => {
    writeSpeeds(config(), { [NAME]: 7 });
    expect(await speedsOfMachine(config(), neverAborted)).to.deep.equal({ [NAME]: 7 });
    expect(readSpeeds(config({ VERBATIM_THREADS: '2' }))).to.equal(null);
    expect(readSpeeds(config({ VERBATIM_ACCEL: 'off' }))).to.equal(null);
    const stored = JSON.parse(readFileSync(speedPath(config()), 'utf8')) as { machine: object };
    writeFileSync(speedPath(config()), JSON.stringify({ ...stored, machine: { ...stored.machine, cores: 1000 } }));
    expect(readSpeeds(config())).to.equal(null);
    writeFileSync(speedPath(config()), 'broken');
    expect(readSpeeds(config())).to.equal(null);
  });

  it('counts the memory of the devices that compute, where they have their own', () => {
    const device = (id: string, memoryBytes: number) => ({ id, name: id, memoryBytes });
    const devices = [device('cpu', 1), device('cuda:0', 50), device('cuda:1', 8)];
    expect(leastRoom(100, devices, ['cpu'])).to.equal(100);
    expect(leastRoom(100, devices, ['cuda:0'])).to.equal(50);
    expect(leastRoom(100, devices, ['cuda:0', 'cuda:1'])).to.equal(8);
    expect(leastRoom(10, devices, ['cuda:0'])).to.equal(10);
    expect(leastRoom(null, devices, ['cpu'])).to.equal(null);
  });

  it('removes what a measurement left that was killed, and nothing of one that runs', async () => {
    const measure = (): ChildProcess => {
      const env = { ...process.env, VERBATIM_DATA_DIR: directory };
      return spawn(process.execPath, verbatim('models', 'measure', NAME), { env, stdio: 'ignore' });
    };
    const hasModel = (name: string): boolean => existsSync(join(directory, name, 'model.bin'));
    const killed = measure();
    await until(() => temporary().some(hasModel));
    killed.kill('SIGKILL');
    await once(killed, 'close');
    const [left, lock] = temporary();
    expect([hasModel(left!), lock]).to.deep.equal([true, `${left}.lock`]);

    const running = measure();
    await until(() => temporary().some((name) => name !== left && hasModel(name)));
    running.kill('SIGSTOP');
    expect(temporary()).not.to.include.members([left]);
    const work = temporary();
    await withMeasurementDirectory((own) => {
      expect(temporary()).to.include.members([...work, basename(own), `${basename(own)}.lock`]);
      expect(readdirSync(own)).to.deep.equal([]);
      return Promise.resolve();
    });
    expect(temporary()).to.deep.equal(work);
    running.kill('SIGKILL');
    await once(running, 'close');
    await withMeasurementDirectory(() => Promise.resolve());
    expect(temporary()).to.deep.equal([]);
  });

  it('is given up with its process, which cleans up', async () => {
    const abort = new AbortController();
    const measuring = speedsOfMachine(config(), abort.signal).catch((error: unknown) => error);
    abort.abort(new Error('stopped'));
    expect(await measuring)
      .to.be.instanceOf(Error)
      .with.property('message', 'stopped');
    expect(existsSync(speedPath(config()))).to.equal(false);
  });

  it('says what went wrong', async () => {
    process.env['VERBATIM_DEVICE'] = 'cuda:99';
    try {
      const error: unknown = await speedsOfMachine(config(), neverAborted).catch((thrown: unknown) => thrown);
      expect((error as Error).message).to.match(/could not be measured: Device "cuda:99" is not available/);
    } finally {
      delete process.env['VERBATIM_DEVICE'];
    }
  });
});
