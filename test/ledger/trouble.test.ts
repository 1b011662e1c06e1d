import Database from 'better-sqlite3';
import { expect } from 'chai';
import { Bench, customer, hold, keepHouse } from './support.js';

describe('ledger: a database that cannot be written for a while', () => {
  let bench: Bench;

  beforeEach(() => {
    bench = new Bench();
  });
  afterEach(() => bench.dispose());

  it('gives credits and Idempotency-Key of a failed request back as soon as it can', () => {
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    const ledger = bench.server({ busyTimeoutMs: 20, onError });
    const ann = customer(ledger, 'ann@example.com', 10);
    const id = hold(ledger, ann, 4);
    const input = { accountId: ann.account.id, key: 'k', fingerprint: 'f' };
    const begun = ledger.beginIdempotent(input);
    if (begun.state !== 'new') throw new Error(begun.state);

    const other = new Database(bench.path);
    try {
      other.exec('BEGIN IMMEDIATE');
      ledger.release(id);
      ledger.abandonIdempotent(begun.token);
      expect(errors).to.have.length(2);
      expect(errors[0]).to.have.property('code', 'SQLITE_BUSY');
      keepHouse(bench);
      expect(errors).to.have.length(3);
      expect(ledger.balance(ann.account.id).balance).to.equal(6);
      other.exec('COMMIT');
    } finally {
      other.close();
    }
    expect(ledger.knowsIdempotencyKey(ann.account.id, 'k')).to.equal(true);
    keepHouse(bench);
    expect(ledger.balance(ann.account.id).balance).to.equal(10);
    expect(ledger.knowsIdempotencyKey(ann.account.id, 'k')).to.equal(false);
    expect(ledger.audit()).to.deep.equal([]);
  });

  it('gives them back at its end, if it could not before', () => {
    const ledger = bench.server({ busyTimeoutMs: 20 });
    const ann = customer(ledger, 'ann@example.com', 10);
    const id = hold(ledger, ann, 4);
    const other = new Database(bench.path);
    other.exec('BEGIN IMMEDIATE');
    ledger.release(id);
    other.exec('COMMIT');
    other.close();
    ledger.close();
    expect(bench.cli().balance(ann.account.id).balance).to.equal(10);
  });
});
