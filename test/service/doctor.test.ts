/** `verbatim doctor`: each check on machines that are made up, and the command on this one. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/package-root.js';
import { readManifest } from '../../src/models/read-manifest.js';
import { readConfig } from '../../src/service/config.js';
import type { ServiceContext } from '../../src/service/context.js';
import { examine } from '../../src/service/doctor/doctor.js';
import type { Finding } from '../../src/service/doctor/finding.js';
import { thisMachine, type Machine } from '../../src/service/doctor/machine.js';
import { runCommand } from '../support/cli.js';

const NOW = Date.UTC(2026, 10, 26, 12);
const CPU = 'model name\t: Example 9000\nflags\t\t: fpu avx2 avx512_vnni\n';
const MEMORY = 'MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n';

describe('verbatim doctor', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'verbatim-doctor-'));
    write('/proc/cpuinfo', CPU);
    write('/proc/meminfo', MEMORY);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function write(path: string, content: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }

  /** A machine on which all is well, but for these. */
  const machine = (different: Partial<Machine> = {}): Machine => ({
    ...thisMachine(root),
    nodeVersion: '22.1.0',
    cores: 4,
    addon: () => addon({}),
    ffmpegVersion: () => Promise.resolve('7.1'),
    freeDisk: () => 100 * 2 ** 30,
    isWritable: () => Promise.resolve(true),
    canListen: () => Promise.resolve(true),
    timeOf: () => Promise.resolve(new Date(NOW)),
    now: () => NOW,
    ...different,
  });

  const addon = (build: object, ...cards: object[]): ReturnType<Machine['addon']> =>
    ({
      build: { whisper: '1.9.1', cuda: false, compiler: 'gcc 12', ...build },
      devices: () => [{ id: 'cpu', name: 'Example', memoryBytes: 2 ** 34 }, ...cards],
    }) as unknown as ReturnType<Machine['addon']>;

  function context(env: Record<string, string>): ServiceContext {
    const config = readConfig({ VERBATIM_DATA_DIR: join(root, 'data'), ...env }, packageRoot);
    const roots = { packageRoot, modelsDir: config.modelsDir };
    return { config, roots, manifest: readManifest(packageRoot, config.modelsDir) };
  }

  async function findings(different: Partial<Machine> = {}, env: Record<string, string> = {}): Promise<Finding[]> {
    const hub = 'https://hub.example';
    return examine({ machine: machine(different), env, context: () => context(env), hub });
  }

  async function found(topic: string, different: Partial<Machine> = {}, env: Record<string, string> = {}) {
    const all = await findings(different, env);
    const one = all.find((finding) => finding.topic === topic);
    if (one === undefined) throw new Error(`${topic} is not among ${all.map((finding) => finding.topic).join(', ')}.`);
    return one;
  }

  it('finds nothing to mend on a machine on which all is well, but the demonstration model', async () => {
    const wanting = (await findings()).filter(({ state }) => state !== 'ok');
    expect(wanting.map(({ topic, state }) => [topic, state])).to.deep.equal([['model', 'advice']]);
    expect(wanting[0]?.remedy).to.contain('models pull');
  });

  it('names the instructions that the engine has products for, on x86 and on ARM', async () => {
    expect((await found('processor')).found).to.equal(
      'Example 9000, 4 cores for this process; AVX-512 VNNI (int8), AVX2 (float32, int8)',
    );
    write('/proc/cpuinfo', 'Features\t: fp asimd asimddp\n');
    expect((await found('processor')).found).to.contain('ARM dot product (int8), ARM NEON (float32)');
    write('/proc/cpuinfo', 'model name\t: Old\nflags\t\t: fpu sse2\n');
    expect(await found('processor')).to.include({ state: 'advice' });
  });

  it('wants a Node.js that the package runs on', async () => {
    expect(await found('Node.js', { nodeVersion: '20.19.0' })).to.include({ state: 'ok' });
    expect(await found('Node.js', { nodeVersion: '20.9.0' })).to.include({ state: 'problem' });
  });

  it('says how an addon is built that is missing, or has no accelerator', async () => {
    const missing = (): never => {
      throw new Error('The native addon is not built.');
    };
    expect(await found('addon', { addon: missing })).to.include({
      state: 'problem',
      found: 'The native addon is not built.',
    });
    const slow = await found('addon', { addon: () => addon({ withoutAccelerator: 'no libdnnl-dev' }) });
    expect(slow).to.include({ state: 'advice' });
    expect(slow.found).to.contain('no libdnnl-dev');
  });

  it('tells cards that are used, cards that could be, and cards that cannot', async () => {
    expect((await found('graphics cards')).found).to.equal('none; the processor does the work');
    write('/sys/class/drm/card0/device/vendor', '0x1002\n');
    expect(await found('graphics cards')).to.include({ state: 'ok' });
    expect((await found('graphics cards')).found).to.match(/^AMD; not used: a build with VERBATIM_VULKAN=ON/);
    const withoutDriver = await found('graphics cards', { addon: () => addon({ vulkan: true }) });
    expect(withoutDriver).to.include({ state: 'advice' });
    expect(withoutDriver.remedy).to.contain('mesa-vulkan-drivers');
    const radeon = { id: 'vulkan:0', type: 'discrete', name: 'Radeon', driver: 'radv Mesa 25', memoryBytes: 2 ** 34 };
    const graphics = { id: 'vulkan:1', type: 'integrated', name: 'Graphics', driver: 'radv', memoryBytes: 2 ** 31 };
    expect((await found('graphics cards', { addon: () => addon({ vulkan: true }, radeon, graphics) })).found).to.equal(
      'vulkan:0 Radeon (16.0 GiB, radv Mesa 25); vulkan:1 Graphics (integrated, 2.0 GiB, radv)',
    );

    write('/sys/class/drm/card1/device/vendor', '0x10de\n');
    expect((await found('graphics cards')).remedy).to.equal("Install NVIDIA's driver.");
    write('/proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.10  Thu\n');
    const built = await found('graphics cards');
    expect(built).to.include({ state: 'advice', found: 'AMD, NVIDIA, driver 570.10; not used' });
    expect(built.remedy).to.contain('VERBATIM_CUDA=ON');
    expect(await found('graphics cards', { addon: () => addon({ cuda: true }) })).to.include({ state: 'problem' });

    const card = { id: 'cuda:0', type: 'discrete', name: 'H100', memoryBytes: 80 * 2 ** 30 };
    const used = await found('graphics cards', { addon: () => addon({ cuda: true }, card) });
    expect(used).to.include({ state: 'ok', found: "cuda:0 H100 (80.0 GiB); NVIDIA's driver 570.10" });
  });

  it('says which device and which way of decoding will be used', async () => {
    expect((await found('device')).found).to.contain('cpu (VERBATIM_DEVICE is "auto"); windows of all requests');
    expect((await found('device', {}, { VERBATIM_SPEECH_DECODER: 'whisper.cpp' })).found).to.contain(
      'whisper.cpp decodes',
    );
    expect(await found('device', {}, { VERBATIM_DEVICE: 'cuda' })).to.include({ state: 'problem' });
  });

  it('compares the model with the free memory, and refuses one that is not installed', async () => {
    write('/proc/meminfo', 'MemAvailable: 1000 kB\n');
    const small = await found('model');
    expect(small).to.include({ state: 'problem' });
    expect(small.found).to.match(/^verbatim-small .* needs up to .* of memory, 0\.0 GiB are free$/);
    write('/proc/meminfo', MEMORY);
    const missing = await found('model', {}, { VERBATIM_MODEL: 'large-v3', VERBATIM_MODELS_DIR: join(root, 'models') });
    expect(missing).to.include({ state: 'problem' });
    expect(missing.found).to.contain('is not installed');
  });

  it('finds a model file of the wrong size', async () => {
    const env = { VERBATIM_MODELS_DIR: join(root, 'models') };
    const entry = context(env).manifest.models.find(({ name }) => name === 'base-q8_0');
    if (entry?.kind !== 'speech') throw new Error('base-q8_0 is no speech model.');
    write(join('models', entry.file), 'half');
    expect(await found('model files', {}, env)).to.include({ state: 'problem', found: 'wrong size: base-q8_0' });
  });

  it('wants directories that can be written, with room', async () => {
    const isWritable = (path: string): Promise<boolean> => Promise.resolve(!path.endsWith('data'));
    expect(await found('data directory', { isWritable })).to.include({ state: 'problem' });
    const notModels = (path: string): Promise<boolean> => Promise.resolve(!path.endsWith('models'));
    expect(await found('models directory', { isWritable: notModels })).to.include({ state: 'advice' });
    expect(await found('data directory', { freeDisk: () => 2 ** 20 })).to.include({ state: 'advice' });
    const elsewhere = { VERBATIM_DATABASE: join(root, 'elsewhere', 'verbatim.db') };
    const notThere = (path: string): Promise<boolean> => Promise.resolve(!path.endsWith('elsewhere'));
    expect(await found('database', { isWritable: notThere }, elsewhere)).to.include({ state: 'problem' });
  });

  it('knows who is refused without ffmpeg', async () => {
    const without = await found('ffmpeg', { ffmpegVersion: () => Promise.resolve(null) });
    expect(without).to.include({ state: 'advice' });
    expect(without.found).to.contain('files are refused');
  });

  it('tells an address that is taken from one that is forbidden, and one that is not here', async () => {
    const refusedBy = (code: string): Partial<Machine> => ({ canListen: () => Promise.resolve(code) });
    expect((await found('address', refusedBy('EADDRINUSE'))).found).to.contain('another program listens');
    expect((await found('address', refusedBy('EACCES'))).remedy).to.contain('1024');
    expect((await found('address', refusedBy('EADDRNOTAVAIL'))).remedy).to.contain('VERBATIM_HOST');
  });

  it('wants the model hub only where a published model is looked for', async () => {
    const timeOf = (): Promise<never> => Promise.reject(new TypeError('fetch failed', { cause: new Error('refused') }));
    expect(await found('model hub', { timeOf })).to.include({ state: 'advice' });
    expect((await found('model hub', { timeOf })).found).to.contain('refused');
    expect(await found('model hub', { timeOf }, { VERBATIM_AUTO_MODEL: 'off' })).to.include({ state: 'ok' });
  });

  it('finds a clock that is wrong by the answer of the model hub', async () => {
    expect(await found('clock')).to.include({ state: 'ok' });
    expect(await found('clock', { now: () => NOW + 90_000 })).to.include({
      state: 'problem',
      found: "90 s ahead of the model hub's",
    });
    expect((await found('clock', { now: () => NOW - 600_000 })).found).to.contain('600 s behind');
  });

  it('reports a wrong setting, and still what needs none', async () => {
    const all = await findings({}, { VERBATIM_PORT: 'many' });
    expect(all.at(-1)).to.include({ topic: 'settings', state: 'problem' });
    expect(all.map(({ topic }) => topic)).to.include('processor');
    expect(await found('settings', {}, { VERBATIM_ENGINE_PROCESS: 'on' })).to.include({ state: 'advice' });
    expect((await found('settings', {}, { VERBATIM_SLOTS: '2' })).found).to.equal('set: VERBATIM_SLOTS');
  });

  it('is a command, whose exit code says whether something does not work', async () => {
    const place = { VERBATIM_DATA_DIR: join(root, 'data'), VERBATIM_PORT: '0', HF_ENDPOINT: 'http://127.0.0.1:9' };
    const well = await runCommand(['doctor'], place);
    expect(well.stdout).to.match(/^ok {7}processor: /m);
    expect(well.stdout).to.match(/^advice {3}model: verbatim-small .*\n {9}-> Download /m);
    expect(well.status, well.stderr).to.equal(0);
    const ill = await runCommand(['doctor'], { ...place, VERBATIM_SLOTS: 'many' });
    expect(ill.status).to.equal(1);
    expect(ill.stdout).to.match(/^PROBLEM {2}settings: VERBATIM_SLOTS is "many"/m);
  });
});
