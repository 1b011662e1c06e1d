/** The property tests of both default commands begin with the same seed in every run; here they begin with others. */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import { packageRoot } from '../../src/package-root.js';

const RUNS = Number(process.env['SEEDS'] ?? 3);
const MOST = 2 ** 31;

/** Files of tests that draw from fast-check, or from the seed itself, as git finds them. */
function seededFiles(): string[] {
  const words = ['grep', '-lE', "from 'fast-check'|support/seed.js'|/property.js'", '--', 'test/*.test.ts'];
  const files = execFileSync('git', words, { cwd: packageRoot, encoding: 'utf8' }).trim().split('\n');
  return files.filter((file) => !file.startsWith('test/slow/'));
}

describe('Property tests with random seeds', () => {
  it('hold as they do with the seed of every run', () => {
    const files = seededFiles();
    expect(files.length).to.be.above(15);
    for (let run = 0; run < RUNS; run += 1) {
      const seed = randomInt(MOST);
      const mocha = [
        '--no-config',
        '--require',
        'tsx/cjs',
        '--require',
        'test/support/contract.ts',
        '--extension',
        'ts',
      ];
      const words = ['node_modules/mocha/bin/mocha.js', ...mocha, '--timeout', '1800000', '--exit', ...files];
      const env = { ...process.env, SEED: String(seed) };
      const { status, stdout } = spawnSync(process.execPath, words, { cwd: packageRoot, env, encoding: 'utf8' });
      expect(status, `SEED=${seed}\n${stdout}`).to.equal(0);
    }
  });
});
