/** `verbatim serve` as a process: whatever happens at its start or its end, it does not stay behind half alive. */
import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Database } from '../../src/ledger/sqlite/driver.js';
import { createLedger } from '../../src/ledger/sqlite/ledger.js';
import { verbatim as command } from '../support/built.js';

interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  stderr: string;
}

describe('verbatim serve', function () {
  this.timeout(120_000);
  let directory: string;
  let server: ChildProcess;

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-serve-'))));
  afterEach(() => {
    server.kill('SIGKILL');
    rmSync(directory, { recursive: true });
  });

  async function serve(onLine: (line: string) => void): Promise<Ending> {
    const env = { ...process.env, VERBATIM_PORT: '0', VERBATIM_AUTO_MODEL: 'off', VERBATIM_DATA_DIR: directory };
    server = spawn(process.execPath, command('serve'), {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    let stderr = '';
    createInterface({ input: server.stdout! }).on('line', onLine);
    server.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code, signal] = (await once(server, 'close')) as [number | null, NodeJS.Signals | null];
    return { code, signal, stderr };
  }

  it('ends when the first account cannot be made, instead of listening without a ledger', async () => {
    const path = join(directory, 'verbatim.db');
    await createLedger({ path }).close();
    const database = new Database(path);
    database.exec("CREATE TRIGGER no_accounts BEFORE INSERT ON accounts BEGIN SELECT RAISE(ABORT, 'none'); END");
    database.close();
    const { code, signal, stderr } = await serve(() => undefined);
    expect({ code, signal }, stderr).to.deep.equal({ code: 1, signal: null });
    expect(stderr).to.contain('none');
  });

  it('drains on a signal that comes with the line that says where it listens', async () => {
    const { code, signal, stderr } = await serve((line) => {
      if (line.startsWith('listening on ')) server.kill('SIGTERM');
    });
    expect({ code, signal }, stderr).to.deep.equal({ code: 0, signal: null });
    expect(stderr).to.contain('draining');
  });
});
