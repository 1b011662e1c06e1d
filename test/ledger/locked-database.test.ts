import { Database } from '../../src/ledger/sqlite/driver.js';
import { expect } from 'chai';
import { FileBench, customer, hold } from './support.js';

describe('ledger: a database that cannot be written for a while', () => {
  let bench: FileBench;

  beforeEach(() => {
    bench = new FileBench();
  });
  afterEach(() => bench.dispose());

  it('gives credits and Idempotency-Key of a failed request back as soon as it can', async () => {
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    const ledger = await bench.server({ onError });
    const ann = await customer(ledger, 'ann@example.com', 10);
    const id = await hold(ledger, ann, 4);
    const input = { accountId: ann.account.id, key: 'k', fingerprint: 'f' };
    const begun = await ledger.idempotency.begin(input);
    if (begun.state !== 'new') throw new Error(begun.state);

    const other = new Database(bench.path);
    try {
      other.exec('BEGIN IMMEDIATE');
      await ledger.holds.release(id);
      await ledger.idempotency.abandon(begun.token);
      expect(errors).to.have.length(2);
      expect(errors[0]).to.have.property('code', 'SQLITE_BUSY');
      bench.timers.pass(5);
      expect(errors).to.have.length(3);
      expect((await ledger.credits.balance(ann.account.id)).balance).to.equal(6);
      other.exec('COMMIT');
    } finally {
      other.close();
    }
    expect(await ledger.idempotency.has(ann.account.id, 'k')).to.equal(true);
    bench.timers.pass(1000);
    expect((await ledger.credits.balance(ann.account.id)).balance).to.equal(10);
    expect(await ledger.idempotency.has(ann.account.id, 'k')).to.equal(false);
    expect(await ledger.audit()).to.deep.equal([]);
  });

  it('gives them back at its end, if it could not before', async () => {
    const ledger = await bench.server();
    const ann = await customer(ledger, 'ann@example.com', 10);
    const id = await hold(ledger, ann, 4);
    const other = new Database(bench.path);
    other.exec('BEGIN IMMEDIATE');
    await ledger.holds.release(id);
    other.exec('COMMIT');
    other.close();
    await ledger.close();
    expect((await (await bench.cli()).credits.balance(ann.account.id)).balance).to.equal(10);
  });
});
