import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLedger } from '../../src/ledger/sqlite/ledger.js';
import { FileBench, customer, hold, refusal, SECRET, settlement } from './support.js';

describe('ledger: servers on one file', () => {
  let bench: FileBench;

  beforeEach(() => {
    bench = new FileBench();
  });
  afterEach(() => bench.dispose());

  const lockFiles = (): string[] => readdirSync(bench.directory).filter((name) => name.includes('-server-'));

  it('leaves the holds and running requests of a living server alone', async () => {
    const first = await bench.server();
    const ann = await customer(first, 'ann@example.com', 10);
    const id = await hold(first, ann, 4);
    const input = { accountId: ann.account.id, key: 'k', fingerprint: 'f' };
    const begun = await first.idempotency.begin(input);
    const second = await bench.server();
    expect(second.recovery).to.deep.equal({ holds: 0, credits: 0, idempotencyRecords: 0 });
    expect((await second.credits.balance(ann.account.id)).balance).to.equal(6);
    expect((await second.idempotency.begin(input)).state).to.equal('conflict');
    if (begun.state !== 'new') throw new Error(begun.state);
    expect((await first.holds.settle(id, settlement(4, { idempotencyToken: begun.token }))).creditsRemaining).to.equal(
      6,
    );
    expect((await second.idempotency.begin(input)).state).to.equal('replay');
  });

  it('releases what a server still holds when it closes', async () => {
    const first = await bench.server();
    const ann = await customer(first, 'ann@example.com', 10);
    await hold(first, ann, 4);
    const second = await bench.server();
    await first.close();
    expect((await second.credits.balance(ann.account.id)).balance).to.equal(10);
    expect(lockFiles()).to.have.length(1);
  });

  it('releases the holds and removes the running requests of a dead server, and keeps its answers', async () => {
    const first = await bench.server();
    const ann = await customer(first, 'ann@example.com', 10);
    const accountId = ann.account.id;
    const answered = await first.idempotency.begin({ accountId, key: 'answered', fingerprint: 'f' });
    if (answered.state !== 'new') throw new Error(answered.state);
    await first.holds.settle(
      await hold(first, ann, 1),
      settlement(1, { idempotencyToken: answered.token, result: {} }),
    );
    await first.idempotency.begin({ accountId, key: 'running', fingerprint: 'f' });
    await hold(first, ann, 4);
    await hold(first, ann, 2);
    // The files as a power cut would leave them: no process has the lock, for there is no lock file.
    const copy = join(bench.directory, 'copy.db');
    for (const suffix of ['', '-wal']) cpSync(bench.path + suffix, copy + suffix);
    const next = createLedger({ path: copy, secret: SECRET, clock: () => bench.now });
    try {
      expect(next.recovery).to.deep.equal({ holds: 2, credits: 6, idempotencyRecords: 1 });
      expect((await next.credits.balance(accountId)).balance).to.equal(9);
      expect((await next.idempotency.begin({ accountId, key: 'running', fingerprint: 'g' })).state).to.equal('new');
      expect((await next.idempotency.begin({ accountId, key: 'answered', fingerprint: 'f' })).state).to.equal('replay');
      expect(await next.audit()).to.deep.equal([]);
    } finally {
      await next.close();
    }
  });

  it('lets a command line in that neither registers nor releases anything', async () => {
    const server = await bench.server();
    const ann = await customer(server, 'ann@example.com', 10);
    await hold(server, ann, 4);
    const cli = await bench.cli();
    expect(lockFiles()).to.have.length(1);
    expect((await cli.credits.balance(ann.account.id)).balance).to.equal(6);
    await cli.credits.grant({ accountId: ann.account.id, amount: 5 });
    expect((await refusal(() => hold(cli, ann, 1))).message).to.contain('only a server may hold credits');
    await cli.close();
    expect((await server.credits.balance(ann.account.id)).balance).to.equal(11);
  });

  it('cleans up after a server that died while it registered', async () => {
    const orphan = `${bench.path}-server-srv_AAAAAAAAAAAAAAAA`;
    const stranger = `${bench.path}-server-notes.txt`;
    for (const file of [orphan, stranger]) writeFileSync(file, '');
    await bench.server();
    expect(existsSync(orphan)).to.equal(false);
    expect(existsSync(stranger)).to.equal(true);
    expect(lockFiles()).to.have.length(2);
  });
});
