/** Another process keeps the write lock: nobody stops the event loop, and finished work is charged in the end. */
import { Database } from '../../src/ledger/sqlite/driver.js';
import { expect } from 'chai';
import type { Ledger } from '../../src/ledger/ledger.js';
import { FileBench, codeOf, customer, hold, settlement, type KeyHolder } from './support.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('ledger: a database that another process keeps locked', () => {
  let bench: FileBench;
  let ledger: Ledger;
  let ann: KeyHolder;
  let other: Database;

  beforeEach(async () => {
    bench = new FileBench();
    // How long a disk takes is no number of turns.
    ledger = await bench.server({ syncFile: () => Promise.resolve() });
    ann = await customer(ledger, 'ann@example.com', 10);
    other = new Database(bench.path);
  });
  afterEach(async () => {
    other.close();
    expect(await (await bench.cli()).audit()).to.deep.equal([]);
    await bench.dispose();
  });

  const balance = async (): Promise<number> => (await ledger.credits.balance(ann.account.id)).balance;

  /** Lets time pass, and the event loop turn, until `call` is done; how many milliseconds that were. */
  async function timeOf(call: Promise<unknown>): Promise<number> {
    const pending = new Set([call]);
    const end = (): unknown => pending.delete(call);
    call.then(end, end);
    for (let passed = 0; ; passed += 1) {
      await turn();
      if (pending.size === 0) return passed;
      bench.timers.pass(1);
    }
  }

  it('is waited for 50 ms by a hold, which then says that it is overloaded and has taken nothing', async () => {
    other.exec('BEGIN IMMEDIATE');
    const code = codeOf(() => hold(ledger, ann, 4));
    expect(await timeOf(code)).to.equal(50);
    expect(await code).to.equal('overloaded');
    expect(await balance()).to.equal(10);
    other.exec('COMMIT');
    await hold(ledger, ann, 10);
  });

  it('is waited for no longer than it is locked', async () => {
    other.exec('BEGIN IMMEDIATE');
    const held = hold(ledger, ann, 4);
    bench.timers.pass(1);
    await turn();
    other.exec('COMMIT');
    expect(await timeOf(held)).to.be.below(10);
    expect(await balance()).to.equal(6);
  });

  it('is waited for by the command line for 5 s', async () => {
    const cli = await bench.cli();
    other.exec('BEGIN IMMEDIATE');
    const code = codeOf(() => cli.credits.grant({ accountId: ann.account.id, amount: 1 }));
    expect(await timeOf(code)).to.equal(5000);
    expect(await code).to.equal('overloaded');
    other.exec('COMMIT');
  });

  it('delays a charge for as long as it takes, and the charge is made once', async () => {
    const id = await hold(ledger, ann, 4);
    const input = { accountId: ann.account.id, key: 'k', fingerprint: 'f' };
    const begun = await ledger.idempotency.begin(input);
    if (begun.state !== 'new') throw new Error(begun.state);
    other.exec('BEGIN IMMEDIATE');
    const settled = ledger.holds.settle(id, settlement(3, { idempotencyToken: begun.token }));
    for (let seconds = 0; seconds < 12; seconds += 1) {
      for (let n = 0; n < 100; n += 1) {
        bench.timers.pass(10);
        await turn();
      }
      expect(await balance(), 'read meanwhile').to.equal(6);
    }
    other.exec('COMMIT');
    expect(await timeOf(settled)).to.be.at.most(100);
    expect(await settled).to.deep.equal({ creditsUsed: 3, creditsRemaining: 7 });
    expect((await ledger.history.report(ann.account.id, 1)).totalCredits).to.equal(3);
    expect((await ledger.idempotency.begin(input)).state).to.equal('replay');
  });

  it('ends the wait of a charge at the end of its server: it is not made, and the next start gives back', async () => {
    const id = await hold(ledger, ann, 4);
    other.exec('BEGIN IMMEDIATE');
    const code = codeOf(() => ledger.holds.settle(id, settlement(3)));
    expect(await timeOf(ledger.close())).to.equal(1000);
    expect(await code).to.equal('overloaded');
    await ledger.holds.release(id); // as a failed request does, and does not fail once more
    other.exec('COMMIT');
    ledger = await bench.server();
    expect(ledger.recovery).to.include({ holds: 1, credits: 4 });
    expect(await balance()).to.equal(10);
    expect((await ledger.history.report(ann.account.id, 1)).totalCredits).to.equal(0);
  });

  it('lets a charge through at the end of its server, if it is unlocked by then', async () => {
    const id = await hold(ledger, ann, 4);
    other.exec('BEGIN IMMEDIATE');
    const settled = ledger.holds.settle(id, settlement(3));
    await turn();
    other.exec('COMMIT');
    await ledger.close();
    expect(await settled).to.include({ creditsUsed: 3 });
    expect((await (await bench.cli()).credits.balance(ann.account.id)).balance).to.equal(7);
  });
});
