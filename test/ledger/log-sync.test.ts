/** A commit that must be on the disk waits for it beside the event loop: who waits for what, counted in fsyncs. */
import { expect } from 'chai';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { LogSync } from '../../src/ledger/sqlite/log-sync.js';
import { createLedger } from '../../src/ledger/sqlite/ledger.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { customer, FileBench, hold, SECRET, settlement } from './support.js';

/** A disk whose writes end when the test says. */
class SlowDisk {
  readonly begun: { end: () => void; fail: (error: Error) => void }[] = [];
  readonly sync = (): Promise<void> =>
    new Promise((resolve, reject) => void this.begun.push({ end: resolve, fail: reject }));

  async end(): Promise<void> {
    this.begun.at(-1)?.end();
    await turn();
  }
}

describe('The write-ahead log', () => {
  let directory: string;
  let disk: SlowDisk;
  let log: LogSync;
  let synced: number[];
  const wait = (id: number): void => void log.synced().then(() => synced.push(id));

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-log-sync-'));
    disk = new SlowDisk();
    synced = [];
    writeFileSync(join(directory, 'a-wal'), '');
    log = new LogSync(join(directory, 'a-wal'), disk.sync);
  });
  afterEach(() => {
    log.close();
    rmSync(directory, { recursive: true });
  });

  it('is synced once for all that wait, and again for who came while it was', async () => {
    [1, 2, 3].forEach(wait);
    await turn();
    [4, 5].forEach(wait);
    await turn();
    expect([disk.begun.length, synced]).to.deep.equal([1, []]);
    await disk.end();
    expect([disk.begun.length, synced]).to.deep.equal([2, [1, 2, 3]]);
    wait(6);
    await disk.end();
    expect([disk.begun.length, synced]).to.deep.equal([3, [1, 2, 3, 4, 5]]);
    await disk.end();
    expect(synced).to.deep.equal([1, 2, 3, 4, 5, 6]);
  });

  it('that fails fails whoever waits, then and later, until it has recovered', async () => {
    const failed = log.synced().catch((error: unknown) => error);
    await turn();
    const next = log.synced().catch((error: unknown) => error);
    disk.begun[0]!.fail(new Error('EIO'));
    expect([await failed, await next].map(String)).to.deep.equal(['Error: EIO', 'Error: EIO']);
    expect(await log.synced().catch(String)).to.equal('Error: EIO');
    expect(disk.begun).to.have.length(1);
    const recovered = log.recover();
    await turn();
    await disk.end();
    await recovered;
    expect(log.failure).to.equal(null);
    wait(2);
    await turn();
    await disk.end();
    expect(synced).to.deep.equal([2]);
  });

  it('has one descriptor, and none when it is closed', async () => {
    const own = (): number => readdirSync('/proc/self/fd').length;
    const before = own();
    for (let n = 0; n < 5; n++) {
      wait(n);
      await turn();
      await disk.end();
    }
    expect(own()).to.equal(before + 1);
    log.close();
    await turn();
    expect(own()).to.equal(before);
  });
});

describe('ledger: a disk that is slow', () => {
  let bench: FileBench;
  let disk: SlowDisk;
  let ledger: Ledger;

  beforeEach(() => {
    bench = new FileBench();
    disk = new SlowDisk();
    const { path, timers } = bench;
    ledger = createLedger({ path, timers, secret: SECRET, syncFile: disk.sync });
  });
  afterEach(async () => {
    const closed = ledger.close();
    await turn();
    await disk.end();
    await closed;
    await bench.dispose();
  });

  it('keeps those waiting who are charged, all for one fsync, and nobody else', async () => {
    const ann = await customer(await bench.cli(), 'ann@example.com', 100);
    const holds = await Promise.all(Array.from({ length: 8 }, () => hold(ledger, ann, 2)));
    let charged = 0;
    for (const id of holds) void ledger.holds.settle(id, settlement(1)).then(() => charged++);
    await turn();
    expect((await ledger.credits.balance(ann.account.id)).balance).to.equal(92);
    expect(await ledger.keys.authenticate(ann.key.rawKey)).to.have.nested.property('account.id', ann.account.id);
    expect([charged, disk.begun.length]).to.deep.equal([0, 1]);
    await disk.end();
    expect([charged, disk.begun.length]).to.deep.equal([8, 1]);
  });
});
