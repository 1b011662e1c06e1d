import { expect } from 'chai';
import { VerbatimError } from '../../src/errors.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { PackAmounts } from '../../src/ledger/types.js';
import { codeOf, customer, hold, refusal, settlement, useLedger, type Bench, type KeyHolder } from './support.js';
import { describeLedger } from './backends.js';

describeLedger('ledger: hold, settle, release', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: KeyHolder;
  useLedger(0, (fixture) => ({ bench, ledger, ann } = fixture), backend);

  const grant = async (amount: number, expiresAt: string | null = null): Promise<void> => {
    await ledger.credits.grant({ accountId: ann.account.id, amount, expiresAt });
  };
  const balance = async (): Promise<number> => (await ledger.credits.balance(ann.account.id)).balance;
  const packs = (): Promise<PackAmounts[]> =>
    bench.rows<PackAmounts>('SELECT remaining, held, spent, expired FROM credit_packs ORDER BY id');

  it('takes a hold off the balance, charges it, and returns the rest', async () => {
    await grant(10);
    const id = await hold(ledger, ann, 4);
    expect(await balance()).to.equal(6);
    const result = await ledger.holds.settle(id, settlement(3));
    expect(result).to.deep.equal({ creditsUsed: 3, creditsRemaining: 7 });
    expect(await ledger.credits.balance(ann.account.id)).to.deep.equal({ balance: 7, lifetimePurchased: 10 });
    expect(await packs()).to.deep.equal([{ remaining: 7, held: 0, spent: 3, expired: 0 }]);
  });

  it('returns everything on release, and a second release changes nothing', async () => {
    await grant(10);
    const id = await hold(ledger, ann, 4);
    await ledger.holds.release(id);
    await ledger.holds.release(id);
    expect(await balance()).to.equal(10);
  });

  it('never uses the id of a released hold again', async () => {
    await grant(10);
    const first = await hold(ledger, ann, 4);
    await ledger.holds.release(first);
    const second = await hold(ledger, ann, 5);
    await ledger.holds.release(first);
    expect(second).not.to.equal(first);
    expect(await balance()).to.equal(5);
  });

  it('leaves a settled hold alone when it is released afterwards', async () => {
    await grant(10);
    const id = await hold(ledger, ann, 4);
    await ledger.holds.settle(id, settlement(4));
    await ledger.holds.release(id);
    expect(await balance()).to.equal(6);
  });

  it('refuses a hold the balance cannot cover, naming cost and balance, and takes nothing', async () => {
    await grant(2);
    await grant(3);
    expect((await refusal(() => hold(ledger, ann, 6))).message).to.contain(
      'This request costs 6 credits; the account has 5.',
    );
    expect(await codeOf(() => hold(ledger, ann, 6))).to.equal('insufficient_credits');
    expect(await packs()).to.deep.equal([
      { remaining: 2, held: 0, spent: 0, expired: 0 },
      { remaining: 3, held: 0, spent: 0, expired: 0 },
    ]);
  });

  it('spends what expires first, then what is oldest, and returns the last to be spent', async () => {
    await grant(5);
    bench.now += 1000;
    await grant(5);
    await grant(5, '2027-01-01');
    await grant(5, '2026-02-01');
    const id = await hold(ledger, ann, 17);
    expect((await packs()).map((pack) => pack.held)).to.deep.equal([5, 2, 5, 5]);
    await ledger.holds.settle(id, settlement(11));
    expect((await packs()).map((pack) => pack.spent)).to.deep.equal([1, 0, 5, 5]);
    expect((await packs()).map((pack) => pack.remaining)).to.deep.equal([4, 5, 0, 0]);
  });

  it('does not spend a pack from the moment it expires', async () => {
    await grant(5, '2026-01-16T00:00:00.000Z');
    await grant(1);
    bench.now = Date.UTC(2026, 0, 15, 23, 59, 59, 999);
    expect(await balance()).to.equal(6);
    bench.now += 1;
    expect(await ledger.credits.balance(ann.account.id)).to.deep.equal({ balance: 1, lifetimePurchased: 6 });
    expect(await codeOf(() => hold(ledger, ann, 2))).to.equal('insufficient_credits');
    await hold(ledger, ann, 1);
    expect((await packs())[0]).to.deep.equal({ remaining: 0, held: 0, spent: 0, expired: 5 });
  });

  it('honours a hold on a pack that expires meanwhile, but returns nothing to it', async () => {
    await grant(5, '2026-01-16');
    const settled = await hold(ledger, ann, 3);
    const released = await hold(ledger, ann, 2);
    bench.now += 86_400_000;
    await ledger.holds.settle(settled, settlement(2));
    await ledger.holds.release(released);
    expect(await balance()).to.equal(0);
    expect(await packs()).to.deep.equal([{ remaining: 0, held: 0, spent: 2, expired: 3 }]);
  });

  it('settles at nothing, and holds nothing, when a minute costs nothing', async () => {
    const id = await hold(ledger, ann, 0);
    expect((await ledger.holds.settle(id, settlement(0, { minutes: 1 }))).creditsUsed).to.equal(0);
    expect((await ledger.history.report(ann.account.id, 1)).totalMinutes).to.equal(1);
  });

  it('refuses to settle twice, or after a release', async () => {
    await grant(10);
    const settled = await hold(ledger, ann, 1);
    await ledger.holds.settle(settled, settlement(1));
    expect((await refusal(() => ledger.holds.settle(settled, settlement(1)))).message).to.contain('not open');
    const released = await hold(ledger, ann, 1);
    await ledger.holds.release(released);
    expect((await refusal(() => ledger.holds.settle(released, settlement(1)))).message).to.contain('not open');
    expect(await balance()).to.equal(9);
  });

  it('refuses amounts that are not whole, negative, or above the hold', async () => {
    await grant(10);
    expect(await refusal(() => hold(ledger, ann, 1.5)))
      .to.be.instanceOf(RangeError)
      .with.property('message')
      .that.contains('1.5 credits');
    expect(await refusal(() => hold(ledger, ann, -1))).to.be.instanceOf(RangeError);
    const id = await hold(ledger, ann, 2);
    for (const wrong of [3, -1, 0.5, NaN]) {
      expect(await refusal(() => ledger.holds.settle(id, settlement(wrong))))
        .to.be.instanceOf(RangeError)
        .with.property('message')
        .that.contains('from 0 to 2');
    }
    expect(await refusal(() => ledger.holds.settle(id, settlement(1, { minutes: 0.5 }))))
      .to.be.instanceOf(RangeError)
      .with.property('message')
      .that.contains('minutes');
    await ledger.holds.release(id);
    expect(await balance()).to.equal(10);
  });

  it('changes nothing when the result cannot be stored', async () => {
    await grant(10);
    const { account } = ann;
    const begun = await ledger.idempotency.begin({ accountId: account.id, key: 'k', fingerprint: 'f' });
    if (begun.state !== 'new') throw new Error(begun.state);
    const id = await hold(ledger, ann, 2);
    const broken = {
      get text(): string {
        throw new Error('no text');
      },
    };
    const charge = settlement(2, { idempotencyToken: begun.token, result: broken });
    expect((await refusal(() => ledger.holds.settle(id, charge))).message).to.equal('no text');
    expect(await balance()).to.equal(8);
    await ledger.holds.settle(id, settlement(2));
    expect((await ledger.history.report(ann.account.id, 1)).totalCredits).to.equal(2);
  });

  it('charges nothing for a key revoked meanwhile, before the hold or after it', async () => {
    await grant(10);
    const id = await hold(ledger, ann, 2);
    await ledger.keys.revoke(ann.account.id, ann.key.id);
    expect(await codeOf(() => ledger.holds.settle(id, settlement(2)))).to.equal('invalid_api_key');
    expect(await codeOf(() => hold(ledger, ann, 1))).to.equal('invalid_api_key');
    await ledger.holds.release(id);
    expect(await balance()).to.equal(10);
    expect((await ledger.history.report(ann.account.id, 1)).totalMinutes).to.equal(0);
  });

  it('refuses a hold with a key of another account', async () => {
    await grant(10);
    const bob = await customer(ledger, 'bob@example.com', 5);
    expect(await codeOf(() => hold(ledger, { account: ann.account, key: bob.key }, 1))).to.equal('invalid_api_key');
  });

  it('lets exactly 10 of 64 racing requests have the last 10 credits', async () => {
    await grant(10);
    const outcomes = await Promise.all(Array.from({ length: 64 }, () => hold(ledger, ann, 1).catch(() => null)));
    const won = outcomes.filter((id) => id !== null);
    expect(won).to.have.length(10);
    for (const id of won) await ledger.holds.settle(id, settlement(1));
    expect(await balance()).to.equal(0);
    expect((await ledger.history.report(ann.account.id, 1)).totalCredits).to.equal(10);
  });

  it('refuses a request beyond so many of the account that have a hold, until one of them is settled or released', async () => {
    await grant(10);
    const bob = await customer(ledger, 'bob@example.com', 5);
    const limit = { mostInFlight: 2 };
    const [settled, released] = [await hold(ledger, ann, 0, limit), await hold(ledger, ann, 1, limit)];
    for (const free of [() => ledger.holds.settle(settled, settlement(0)), () => ledger.holds.release(released)]) {
      expect(await ledger.holds.state(ann.account.id)).to.deep.equal({ balance: 9, inFlight: 2 });
      const refused = await refusal(() => hold(ledger, ann, 1, limit));
      expect(refused).to.include({
        code: 'rate_limited',
        message: 'The account has 2 requests in flight; its limit is 2.',
      });
      await ledger.holds.release(await hold(ledger, bob, 1, { mostInFlight: 1 }));
      await ledger.holds.release(await hold(ledger, ann, 1, { mostInFlight: 3 }));
      await ledger.holds.release(await hold(ledger, ann, 1));
      await free();
      await hold(ledger, ann, 0, limit);
    }
  });

  it('lets exactly 7 of 64 racing requests be in flight, of which jobs are none', async () => {
    await grant(100);
    const { account, key } = ann;
    await ledger.jobs.create({
      ...{ id: 'job_1', accountId: account.id, keyId: key.id, requestId: 'req', options: {} },
      ...{ audioSeconds: 3, credits: 1, webhook: null, mostOpen: 100, idempotency: null },
    });
    const racing = Array.from({ length: 64 }, () => codeOrId(() => hold(ledger, ann, 1, { mostInFlight: 7 })));
    const outcomes = await Promise.all(racing);
    expect(outcomes.filter((outcome) => outcome === 'rate_limited')).to.have.length(57);
    expect(await ledger.holds.state(account.id)).to.deep.equal({ balance: 92, inFlight: 7 });
  });
});

async function codeOrId(work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } catch (error) {
    return error instanceof VerbatimError ? error.code : String(error);
  }
}
