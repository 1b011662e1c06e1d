/** Which machines were tried: a record that the slow tests write, and the table in docs/install.md that is made of it. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';

const STEPS = ['setup', 'start', 'tests', 'npm test', 'package'] as const;
export type MachineStep = (typeof STEPS)[number];

export interface TriedMachine {
  release: string;
  node: string;
  /** The commit at which each step held last. */
  held: Partial<Record<MachineStep, string>>;
}

const RECORD = join(packageRoot, 'test', 'fixtures', 'machines.json');
const RELEASES: Readonly<Record<string, string>> = { bookworm: 'Debian 12', trixie: 'Debian 13' };
const TITLES: Readonly<Record<MachineStep, string>> = {
  ...{ setup: '`./setup`', start: '`npm start`', tests: 'tests of Node.js', 'npm test': '`npm test`' },
  package: '`.deb`',
};

export function triedMachines(): TriedMachine[] {
  return JSON.parse(readFileSync(RECORD, 'utf8')) as TriedMachine[];
}

export function recordMachine({ release, node, step }: { release: string; node: string; step: MachineStep }): void {
  const commit = execFileSync('git', ['-C', packageRoot, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const machines = triedMachines();
  const same = machines.find((machine) => machine.release === release && machine.node === node);
  if (same === undefined) machines.push({ release, node, held: { [step]: commit } });
  else same.held[step] = commit;
  machines.sort((a, b) => a.release.localeCompare(b.release) || a.node.localeCompare(b.node));
  writeFileSync(RECORD, JSON.stringify(machines, null, 2) + '\n');
}

/** Rows of that table, without the padding of its columns. */
export function machineRows(machines: readonly TriedMachine[]): string[][] {
  return [
    ['Release', 'Node.js', ...STEPS.map((step) => TITLES[step])],
    ...machines.map(({ release, node, held }) => [
      ...[RELEASES[release] ?? release, node],
      ...STEPS.map((step) => (held[step] === undefined ? 'not tried' : 'holds')),
    ]),
  ];
}
