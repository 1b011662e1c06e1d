/** The property tests of both default commands begin with the same seed in every run; here they begin with others. */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { basename } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/package-root.js';

const RUNS = Number(process.env['SEEDS'] ?? 3);
const MOST = 2 ** 31;

/** Files that have this, as git finds them. */
function filesWith(pattern: string, files: string): string[] {
  const words = ['grep', '-lE', pattern, '--', files];
  return execFileSync('git', words, { cwd: packageRoot, encoding: 'utf8' }).trim().split('\n');
}

function run(program: string, words: readonly string[], variable: string): void {
  const seed = String(randomInt(MOST));
  const env = { ...process.env, OMP_WAIT_POLICY: 'passive', [variable]: seed };
  const { status, stdout } = spawnSync(program, words, { cwd: packageRoot, env, encoding: 'utf8', maxBuffer: 1 << 28 });
  expect(status, `${variable}=${seed}\n${stdout}`).to.equal(0);
}

describe('Property tests with random seeds', () => {
  it('hold as they do with the seed of every run', () => {
    const all = filesWith("from 'fast-check'|support/seed.js'|/seed.js'|/property.js'", 'test/*.test.ts');
    const files = all.filter((file) => !file.startsWith('test/slow/'));
    expect(files.length).to.be.above(20);
    const required = ['tsx/cjs', 'test/support/contract.ts'].flatMap((file) => ['--require', file]);
    const options = ['--no-config', ...required, '--extension', 'ts', '--timeout', '1800000', '--exit'];
    const words = ['node_modules/mocha/bin/mocha.js', ...options, ...files];
    for (let n = 0; n < RUNS; n += 1) run(process.execPath, words, 'SEED');
  });

  it('hold so in native code, too', () => {
    execFileSync('cmake', ['--build', 'build', '--target', 'engine_test'], { cwd: packageRoot, stdio: 'ignore' });
    const files = filesWith('support/seed.h', 'native/test/*_test.cc');
    expect(files.length).to.be.above(10);
    const words = [`--source-file=${files.map((file) => `*/${basename(file)}`).join(',')}`];
    for (let n = 0; n < RUNS; n += 1) run('build/engine_test', words, 'VERBATIM_SEED');
  });
});
