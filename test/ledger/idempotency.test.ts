import { expect } from 'chai';
import type { IdempotencyState, Ledger } from '../../src/ledger/types.js';
import { customer, hold, keepHouse, settlement, useBooks, type Bench, type Customer } from './support.js';

const DAY = 86_400_000;

describe('ledger: idempotency', () => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: Customer;
  useBooks(1000, (books) => ({ bench, ledger, ann } = books));

  const begin = (fingerprint = 'f1', key = 'k1', who = ann): IdempotencyState =>
    ledger.beginIdempotent({ accountId: who.account.id, key, fingerprint });
  const token = (state: IdempotencyState): string => {
    if (state.state !== 'new') throw new Error(`The record is ${state.state}.`);
    return state.token;
  };
  const answer = (idempotencyToken: string, body: string): void => {
    ledger.settle(hold(ledger, ann, 1), settlement(1, { idempotencyToken, response: () => body }));
  };

  it('replays the answer of the first', () => {
    answer(token(begin()), '{"text":"hello"}');
    const replay = { state: 'replay', response: { status: 200, body: '{"text":"hello"}' } };
    expect(begin()).to.deep.equal(replay);
    expect(begin()).to.deep.equal(replay);
  });

  it('refuses a different request under the same key, and one that is still running', () => {
    const first = token(begin());
    expect(begin('f1')).to.deep.equal({ state: 'conflict', reason: 'still_running' });
    expect(begin('f2')).to.deep.equal({ state: 'conflict', reason: 'different_request' });
    answer(first, '{}');
    expect(begin('f2')).to.deep.equal({ state: 'conflict', reason: 'different_request' });
  });

  it('keeps accounts and keys apart', () => {
    const bob = customer(ledger, 'bob@example.com');
    token(begin('f1', 'k1'));
    token(begin('f1', 'k2'));
    token(begin('f1', 'k1', bob));
  });

  it('knows a key while its request runs and while its answer is stored', () => {
    const known = (key = 'k1', who = ann): boolean => ledger.knowsIdempotencyKey(who.account.id, key);
    expect(known()).to.equal(false);
    ledger.abandonIdempotent(token(begin()));
    expect(known()).to.equal(false);
    const running = token(begin());
    expect(known()).to.equal(true);
    answer(running, '{}');
    expect([known(), known('k2'), known('k1', customer(ledger, 'bob@example.com'))]).to.deep.equal([
      true,
      false,
      false,
    ]);
    bench.now += DAY;
    expect(known()).to.equal(false);
  });

  it('forgets a request that failed, but never an answer', () => {
    const failed = token(begin());
    ledger.abandonIdempotent(failed);
    const second = token(begin('f2'));
    ledger.abandonIdempotent(failed);
    expect(begin('f2').state).to.equal('conflict');
    answer(second, '{}');
    ledger.abandonIdempotent(second);
    expect(begin('f2').state).to.equal('replay');
  });

  it('keeps an answer for a day from when it was given, and a running request as long as it takes', () => {
    const slow = token(begin());
    bench.now += 2 * DAY;
    expect(begin().state).to.equal('conflict');
    answer(slow, '{}');
    bench.now += DAY - 1;
    expect(begin().state).to.equal('replay');
    bench.now += 1;
    answer(token(begin('f2')), '{"second":true}');
    expect(begin('f2').state).to.equal('replay');
  });

  it('charges nothing when the record is gone', () => {
    const lost = token(begin());
    ledger.abandonIdempotent(lost);
    expect(() => answer(lost, '{}')).to.throw('gone or already answered');
    expect(ledger.usage(ann.account.id, 1).totalCredits).to.equal(0);
    expect(ledger.balance(ann.account.id).balance).to.equal(999); // the hold, until it is released
  });

  it('answers one record once', () => {
    const once = token(begin());
    answer(once, '{}');
    expect(() => answer(once, '{"again":true}')).to.throw('gone or already answered');
    expect(ledger.usage(ann.account.id, 1).totalCredits).to.equal(1);
  });

  it('deletes old answers by and by', () => {
    for (let n = 0; n < 120; n += 1) answer(token(begin('f', `k${n}`)), '{"text":"private words"}');
    bench.now += DAY;
    token(begin('f', 'running'));
    bench.server();
    const left = (): unknown =>
      bench.raw((database) => database.prepare('SELECT count(*) FROM idempotency_records').pluck().get());
    expect(left()).to.equal(121);
    keepHouse(bench);
    expect(left()).to.equal(1);
  });
});
