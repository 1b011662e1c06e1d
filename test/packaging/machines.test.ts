/** The table of machines in docs/install.md says what the slow tests recorded, no more and no less. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/package-root.js';
import { machineRows, triedMachines } from '../support/machines.js';

describe('The table of machines in docs/install.md', () => {
  it('says what was recorded', () => {
    const lines = readFileSync(join(packageRoot, 'docs', 'install.md'), 'utf8').split('\n');
    const first = lines.findIndex((line) => line.startsWith('| Release '));
    const length = lines.slice(first).findIndex((line) => !line.startsWith('|'));
    const cells = (line: string): string[] =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
    const [head, , ...rows] = lines.slice(first, first + length).map(cells);
    expect([head, ...rows]).to.deep.equal(machineRows(triedMachines()));
  });
});
