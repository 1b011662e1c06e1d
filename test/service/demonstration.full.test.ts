import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../../src/package-root.js';
import { readManifest } from '../../src/models/read-manifest.js';
import { verbatim } from '../support/built.js';

interface ServeOutput {
  /** Lines of standard output. */
  printed: string[];
  /** Lines of the log, on standard error. */
  logged: string[];
}

/** What `verbatim serve` says from its start to its end, which SIGTERM brings once it has logged a warning. */
async function outputOfServe(directory: string): Promise<ServeOutput> {
  const env = {
    ...process.env,
    VERBATIM_PORT: '0',
    VERBATIM_AUTO_MODEL: 'off',
    VERBATIM_DATABASE: join(directory, 'verbatim.db'),
  };
  const server = spawn(process.execPath, verbatim('serve'), {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  const output: ServeOutput = { printed: [], logged: [] };
  createInterface({ input: server.stdout }).on('line', (line) => output.printed.push(line));
  createInterface({ input: server.stderr }).on('line', (line) => {
    output.logged.push(line);
    if (levelOf(line) === WARN) server.kill('SIGTERM');
  });
  const [code] = (await once(server, 'close')) as [number | null];
  expect(code, output.logged.join('\n')).to.equal(0);
  return output;
}

/** Of pino. */
const WARN = 40;

function levelOf(line: string): unknown {
  return (JSON.parse(line) as { level: unknown }).level;
}

describe('a start with the bundled model', function () {
  this.timeout(120_000);
  let directory: string;

  before(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-demonstration-'))));
  after(() => rmSync(directory, { recursive: true }));

  it('says that it is a demonstration and what to install: in the first start’s text, and in the log of every start', async () => {
    const first = await outputOfServe(directory);
    expect(first.printed[0]).to.match(/^listening on /);
    const second = await outputOfServe(directory);
    const advice = /"?verbatim-small.* is a demonstration.*npx verbatim models pull\\?" installs/;
    expect(first.printed.filter((line) => advice.test(line))).to.have.lengthOf(1);
    expect(second.printed.filter((line) => advice.test(line))).to.have.lengthOf(0);
    for (const { logged } of [first, second]) {
      expect(logged.filter((line) => advice.test(line)).map(levelOf)).to.deep.equal([WARN]);
      const ready = JSON.parse(logged.find((line) => line.includes('"ready"'))!) as object;
      expect(ready).to.include({ model: 'verbatim-small', demonstration: true });
    }
  });
});

describe('the models of the manifest', () => {
  const { models } = readManifest(packageRoot, join(packageRoot, 'models'));

  it('have a floor where they are demonstrations only: what is left out is explained by that', () => {
    const floors = models.filter((entry) => entry.kind === 'speech' && 'minAverageLogProbability' in entry);
    expect(floors.map(({ name }) => name)).to.deep.equal(['verbatim-small']);
    for (const { demonstration } of floors) expect(demonstration).to.equal(true);
  });
});
