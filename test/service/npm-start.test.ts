import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ALLOCATOR } from '../../bench/processes/verbatim-process.js';
import { NODE_FLAGS } from '../../src/engine/process/child.js';
import { packageRoot } from '../../src/package-root.js';

/** Lines of standard output until one says where the service listens; npm writes its own before it. */
async function listeningUrl(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const url = /^listening on (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`npm start ended before the service listened (exit code ${child.exitCode}).`);
}

describe('npm start', () => {
  let directory: string;
  let npm: ChildProcess;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-npm-start-'));
    npm = spawn('npm', ['start'], {
      cwd: packageRoot,
      env: { ...process.env, VERBATIM_PORT: '0', VERBATIM_AUTO_MODEL: 'off', VERBATIM_DATA_DIR: directory },
      stdio: ['ignore', 'pipe', 'ignore'],
      // A process group of its own, so that nothing of it survives a test that fails.
      detached: true,
    });
  });

  afterEach(() => {
    try {
      process.kill(-npm.pid!, 'SIGKILL');
    } catch {
      // All of the group have ended, as they should.
    }
    rmSync(directory, { recursive: true, force: true });
  });

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`passes ${signal} on: the service drains, ends with 0 and leaves no orphan`, async () => {
      const url = await listeningUrl(npm);
      const before = await fetch(`${url}/healthz`);
      expect(before.status).to.equal(200);
      const exited = once(npm, 'exit');
      process.kill(npm.pid!, signal);
      expect(await exited).to.deep.equal([0, null]);
      const refused: unknown = await fetch(`${url}/healthz`).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(TypeError);
    });
  }
});

describe('the settings that Node is started with', () => {
  const variables = Object.entries(ALLOCATOR).map(([name, value]) => `${name}=${value}`);
  const settings = [...variables, 'node', ...NODE_FLAGS].join(' ');
  const read = (file: string): string => readFileSync(join(packageRoot, file), 'utf8');

  it('are the same for npm start, the verbatim command and what is measured', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } };
    expect(scripts.start).to.equal(`exec env ${settings} dist/src/main.js serve`);
    const ofThePackage = read('packaging/deb/verbatim').split(/\s/);
    expect(ofThePackage, 'the command of the package').to.include.members([...variables, ...NODE_FLAGS]);
    expect(read('src/main.ts').split('\n', 1)).to.deep.equal([`#!/usr/bin/env -S ${settings}`]);
  });
});
