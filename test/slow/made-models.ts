/** Models of random weights, by the programs of the build. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { builtTool } from '../../bench/processes/built-tools.js';
import { packageRoot } from '../../src/package-root.js';

export const BUILD = join(packageRoot, 'build');

export function buildTools(...targets: string[]): void {
  const words = ['--build', BUILD, '--target', ...targets];
  const built = spawnSync('cmake', words, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  expect(built.status, `${built.stdout}\n${built.stderr}`).to.equal(0);
}

/** `words`: the weights, the seed, and what else make_model takes. */
export function makeModel(shape: string, path: string, ...words: (string | number)[]): void {
  const made = spawnSync(builtTool(BUILD, 'make_model'), [shape, path, ...words.map(String)]);
  expect(made.status, String(made.stderr)).to.equal(0);
}
