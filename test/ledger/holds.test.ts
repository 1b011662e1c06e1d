import { expect } from 'chai';
import type { Ledger } from '../../src/ledger/types.js';
import { codeOf, customer, hold, settlement, useBooks, type Bench, type Customer } from './support.js';

interface Pack {
  remaining: number;
  held: number;
  spent: number;
  expired: number;
}

describe('ledger: hold, settle, release', () => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: Customer;
  useBooks(0, (books) => ({ bench, ledger, ann } = books));

  const grant = (amount: number, expiresAt: string | null = null): void => {
    ledger.grantCredits({ accountId: ann.account.id, amount, expiresAt });
  };
  const balance = (): number => ledger.balance(ann.account.id).balance;
  const packs = (): Pack[] =>
    bench.raw((database) =>
      database
        .prepare<[], Pack>('SELECT remaining, held, spent, expired FROM credit_packs ORDER BY id')
        .all(),
    );

  it('takes a hold off the balance, charges it, and returns the rest', () => {
    grant(10);
    const id = hold(ledger, ann, 4);
    expect(balance()).to.equal(6);
    const result = ledger.settle(id, settlement(3));
    expect(result).to.deep.equal({ creditsUsed: 3, creditsRemaining: 7, body: '{"creditsRemaining":7}' });
    expect(ledger.balance(ann.account.id)).to.deep.equal({ balance: 7, lifetimePurchased: 10 });
    expect(packs()).to.deep.equal([{ remaining: 7, held: 0, spent: 3, expired: 0 }]);
  });

  it('returns everything on release, and a second release changes nothing', () => {
    grant(10);
    const id = hold(ledger, ann, 4);
    ledger.release(id);
    ledger.release(id);
    expect(balance()).to.equal(10);
  });

  it('never uses the id of a released hold again', () => {
    grant(10);
    const first = hold(ledger, ann, 4);
    ledger.release(first);
    const second = hold(ledger, ann, 5);
    ledger.release(first);
    expect(second).not.to.equal(first);
    expect(balance()).to.equal(5);
  });

  it('leaves a settled hold alone when it is released afterwards', () => {
    grant(10);
    const id = hold(ledger, ann, 4);
    ledger.settle(id, settlement(4));
    ledger.release(id);
    expect(balance()).to.equal(6);
  });

  it('refuses a hold the balance cannot cover, naming cost and balance, and takes nothing', () => {
    grant(2);
    grant(3);
    expect(() => hold(ledger, ann, 6)).to.throw('This request costs 6 credits; the account has 5.');
    expect(codeOf(() => hold(ledger, ann, 6))).to.equal('insufficient_credits');
    expect(packs()).to.deep.equal([
      { remaining: 2, held: 0, spent: 0, expired: 0 },
      { remaining: 3, held: 0, spent: 0, expired: 0 },
    ]);
  });

  it('spends what expires first, then what is oldest, and returns the last to be spent', () => {
    grant(5);
    bench.now += 1000;
    grant(5);
    grant(5, '2027-01-01');
    grant(5, '2026-02-01');
    const id = hold(ledger, ann, 17);
    expect(packs().map((pack) => pack.held)).to.deep.equal([5, 2, 5, 5]);
    ledger.settle(id, settlement(11));
    expect(packs().map((pack) => pack.spent)).to.deep.equal([1, 0, 5, 5]);
    expect(packs().map((pack) => pack.remaining)).to.deep.equal([4, 5, 0, 0]);
  });

  it('does not spend a pack from the moment it expires', () => {
    grant(5, '2026-01-16T00:00:00.000Z');
    grant(1);
    bench.now = Date.UTC(2026, 0, 15, 23, 59, 59, 999);
    expect(balance()).to.equal(6);
    bench.now += 1;
    expect(ledger.balance(ann.account.id)).to.deep.equal({ balance: 1, lifetimePurchased: 6 });
    expect(codeOf(() => hold(ledger, ann, 2))).to.equal('insufficient_credits');
    hold(ledger, ann, 1);
    expect(packs()[0]).to.deep.equal({ remaining: 0, held: 0, spent: 0, expired: 5 });
  });

  it('honours a hold on a pack that expires meanwhile, but returns nothing to it', () => {
    grant(5, '2026-01-16');
    const settled = hold(ledger, ann, 3);
    const released = hold(ledger, ann, 2);
    bench.now += 86_400_000;
    ledger.settle(settled, settlement(2));
    ledger.release(released);
    expect(balance()).to.equal(0);
    expect(packs()).to.deep.equal([{ remaining: 0, held: 0, spent: 2, expired: 3 }]);
  });

  it('settles at nothing, and holds nothing, when a minute costs nothing', () => {
    const id = hold(ledger, ann, 0);
    expect(ledger.settle(id, settlement(0, { minutes: 1 })).creditsUsed).to.equal(0);
    expect(ledger.usage(ann.account.id, 1).totalMinutes).to.equal(1);
  });

  it('refuses to settle twice, or after a release', () => {
    grant(10);
    const settled = hold(ledger, ann, 1);
    ledger.settle(settled, settlement(1));
    expect(() => ledger.settle(settled, settlement(1))).to.throw('not open');
    const released = hold(ledger, ann, 1);
    ledger.release(released);
    expect(() => ledger.settle(released, settlement(1))).to.throw('not open');
    expect(balance()).to.equal(9);
  });

  it('refuses amounts that are not whole, negative, or above the hold', () => {
    grant(10);
    expect(() => hold(ledger, ann, 1.5)).to.throw(RangeError, '1.5 credits');
    expect(() => hold(ledger, ann, -1)).to.throw(RangeError);
    const id = hold(ledger, ann, 2);
    for (const wrong of [3, -1, 0.5, NaN]) {
      expect(() => ledger.settle(id, settlement(wrong))).to.throw(RangeError, 'from 0 to 2');
    }
    expect(() => ledger.settle(id, settlement(1, { minutes: 0.5 }))).to.throw(RangeError, 'minutes');
    ledger.release(id);
    expect(balance()).to.equal(10);
  });

  it('changes nothing when the response cannot be built', () => {
    grant(10);
    const id = hold(ledger, ann, 2);
    const broken = settlement(2, {
      response: () => {
        throw new Error('no body');
      },
    });
    expect(() => ledger.settle(id, broken)).to.throw('no body');
    expect(balance()).to.equal(8);
    ledger.settle(id, settlement(2));
    expect(ledger.usage(ann.account.id, 1).totalCredits).to.equal(2);
  });

  it('charges nothing for a key revoked meanwhile, before the hold or after it', () => {
    grant(10);
    const id = hold(ledger, ann, 2);
    ledger.revokeKey(ann.account.id, ann.key.id);
    expect(codeOf(() => ledger.settle(id, settlement(2)))).to.equal('invalid_api_key');
    expect(codeOf(() => hold(ledger, ann, 1))).to.equal('invalid_api_key');
    ledger.release(id);
    expect(balance()).to.equal(10);
    expect(ledger.usage(ann.account.id, 1).totalMinutes).to.equal(0);
  });

  it('refuses a hold with a key of another account', () => {
    grant(10);
    const bob = customer(ledger, 'bob@example.com', 5);
    expect(codeOf(() => hold(ledger, { account: ann.account, key: bob.key }, 1))).to.equal('invalid_api_key');
  });

  it('lets exactly 10 of 64 racing requests have the last 10 credits', () => {
    grant(10);
    const outcomes = Array.from({ length: 64 }, () => {
      try {
        return hold(ledger, ann, 1);
      } catch {
        return null;
      }
    });
    const won = outcomes.filter((id) => id !== null);
    expect(won).to.have.length(10);
    for (const id of won) ledger.settle(id, settlement(1));
    expect(balance()).to.equal(0);
    expect(ledger.usage(ann.account.id, 1).totalCredits).to.equal(10);
  });
});
