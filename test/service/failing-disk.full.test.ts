/**
 * `verbatim serve` on a disk whose fsync fails: the system's own calls, SQLite's among them, in the server's process.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import { openLedger } from '../../src/ledger/sqlite/ledger.js';
import { startChecked } from '../support/recorded-answers.js';
import { form } from '../support/requests.js';
import { until } from '../support/until.js';

const CLIP = readFileSync(join(__dirname, '..', 'fixtures', 'audio', 'samples', 'en-wav16.wav'));
const SHIM = join(__dirname, '..', 'support', 'failing-fsync.c');

describe('a server whose disk fails', function () {
  this.timeout(300_000);
  let directory: string;
  let failing: string;
  let server: VerbatimProcess;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-failing-disk-'));
    failing = join(directory, 'failing');
    const library = join(directory, 'failing-fsync.so');
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, SHIM, '-ldl']);
    server = await startChecked({
      credits: [100],
      env: { LD_PRELOAD: library, FAILING_FSYNC: failing, VERBATIM_LOG_LEVEL: 'silent' },
    });
  });
  after(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const get = (path: string): Promise<Response> =>
    fetch(server.url + path, { headers: { authorization: `Bearer ${server.keys[0]!}` } });
  async function post(
    path: string,
    key: string | null,
    parts: readonly [string, string | Buffer][],
  ): Promise<Response> {
    const headers = { authorization: `Bearer ${server.keys[0]!}`, ...(key === null ? {} : { 'idempotency-key': key }) };
    return fetch(server.url + path, { method: 'POST', headers, body: form(parts) });
  }
  const transcribe = (key: string): Promise<Response> => post('/api/v1/transcribe', key, [['audio', CLIP]]);
  const balance = async (): Promise<number> =>
    ((await (await get('/api/v1/me')).json()) as { credits: { balance: number } }).credits.balance;
  const isReady = async (): Promise<boolean> => (await get('/readyz')).status === 200;
  const violations = async (): Promise<unknown[]> => {
    const ledger = openLedger({ path: join(server.directory, 'verbatim.db') });
    try {
      return await ledger.audit();
    } finally {
      await ledger.close();
    }
  };

  it('charges nothing, answers 503, takes no work, and serves again when the disk does', async () => {
    expect((await transcribe('first')).status).to.equal(200);
    expect(await balance()).to.equal(99);
    writeFileSync(failing, '');
    const refused = await transcribe('second');
    expect(refused.status).to.equal(503);
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect(await refused.json()).to.have.nested.property('error.code', 'overloaded');
    expect(await balance()).to.equal(99);
    expect(await violations()).to.deep.equal([]);
    const unready = await get('/readyz');
    expect(unready.status).to.equal(503);
    expect(await unready.json()).to.have.nested.property('checks.database_writable', false);
    expect((await transcribe('third')).status).to.equal(503);
    rmSync(failing);
    await until(isReady, 'the disk is believed again');
    const answered = await transcribe('second');
    expect([answered.status, answered.headers.get('idempotency-replayed')]).to.deep.equal([200, null]);
    const replayed = await transcribe('second');
    expect(replayed.headers.get('idempotency-replayed')).to.equal('true');
    expect(await replayed.text()).to.equal(await answered.text());
    expect(await balance()).to.equal(98);
    expect(await violations()).to.deep.equal([]);
    expect(readdirSync(server.directory).filter((name) => name.includes('unsynced'))).to.deep.equal([]);
  });
});
