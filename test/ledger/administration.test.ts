/** What operators do with accounts: lists, suspension, roles, usage, payments. */
import { expect } from 'chai';
import type { AccountUsage } from '../../src/ledger/administration.js';
import { DAY_MS } from '../../src/ledger/time.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { describeLedger } from './backends.js';
import { type Bench, codeOf, customer, ENDPOINT, hold, settlement, useLedger, type KeyHolder } from './support.js';
import { grow, PASSWORD, BROWSER } from './full-account.js';

const NOBODY = 'acc_nobody';

describeLedger('ledger: what operators do with accounts', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: KeyHolder;
  useLedger(100, (fixture) => ({ bench, ledger, ann } = fixture), backend);

  describe('a list', () => {
    it('comes in pages, the oldest first, without those that are deleted', async () => {
      const bob = await customer(ledger, 'bob@example.com');
      bench.now += 1;
      const cid = await customer(ledger, 'cid@example.com');
      const { administration } = ledger;
      const [first, second] = [ann, bob].map(({ account }) => account).sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(await administration.list({ limit: 1, after: null })).to.deep.equal([first]);
      expect(await administration.list({ limit: 9, after: first! })).to.deep.equal([second, cid.account]);
      expect(await administration.find(bob.account.id)).to.deep.equal(bob.account);
      await administration.delete(bob.account.id);
      expect(await administration.find(bob.account.id)).to.equal(null);
      const left = [ann.account, cid.account];
      expect(await administration.list({ limit: 9, after: null })).to.deep.equal(left);
      expect(await ledger.accounts.list()).to.deep.equal(left);
    });
  });

  describe('a suspended account', () => {
    it('is reported from its first suspension to its end', async () => {
      const { administration } = ledger;
      const suspended = await administration.suspend(ann.account.id);
      expect(suspended).to.deep.equal({ ...ann.account, suspendedAt: '2026-01-15T12:00:00.000Z' });
      bench.now += 1000;
      expect(await administration.suspend(ann.account.id)).to.deep.equal(suspended);
      expect(await ledger.accounts.find(ann.account.email)).to.deep.equal(suspended);
      expect(await administration.resume(ann.account.id)).to.deep.equal(ann.account);
      expect(await codeOf(() => administration.suspend(NOBODY))).to.equal('account_not_found');
      expect(await codeOf(() => administration.resume(NOBODY))).to.equal('account_not_found');
    });

    it('is let in by no key, link or password, and by all of them when it is resumed', async () => {
      const { access, administration } = ledger;
      const { session, link } = await grow(ledger, ann);
      await administration.suspend(ann.account.id);
      const tries = [
        () => ledger.keys.authenticate(ann.key.rawKey),
        () => access.useLink(link, BROWSER),
        () => access.startSession(ann.account.id, PASSWORD, BROWSER),
      ];
      for (const work of tries) expect(await codeOf(work)).to.equal('account_suspended');
      expect((await access.findSession(session))?.account.suspendedAt).to.be.a('string');
      expect(await access.startSession(ann.account.id, { ...PASSWORD, hash: Buffer.alloc(32) }, BROWSER)).to.equal(
        null,
      );
      await administration.resume(ann.account.id);
      expect((await access.findSession(session))?.account.suspendedAt).to.equal(null);
      for (const work of tries) expect(await work()).to.be.an('object');
    });

    it('has what is in flight end as when its key is revoked, uncharged', async () => {
      const [open, streamed] = [await hold(ledger, ann, 5), await hold(ledger, ann, 5)];
      const bob = await customer(ledger, 'bob@example.com', 10);
      await (await bench.cli()).administration.suspend(ann.account.id);
      expect(await ledger.keys.revokedAmong([ann.key.id, bob.key.id])).to.deep.equal([ann.key.id]);
      expect(await codeOf(() => ledger.holds.settle(open, settlement(5)))).to.equal('invalid_api_key');
      expect(await codeOf(() => hold(ledger, ann, 1))).to.equal('invalid_api_key');
      await ledger.holds.release(open);
      expect((await ledger.credits.balance(ann.account.id)).balance).to.equal(95);
      // What its client has got of a stream is paid for.
      await ledger.holds.settle(streamed, settlement(2, { delivered: true }));
      expect((await ledger.credits.balance(ann.account.id)).balance).to.equal(98);
      await ledger.administration.resume(ann.account.id);
      expect(await ledger.keys.revokedAmong([ann.key.id])).to.deep.equal([]);
    });
  });

  describe('a role that is taken away', () => {
    it('takes the admin keys with it, and no others', async () => {
      const { id: accountId } = ann.account;
      await ledger.access.setRole(accountId, 'operator');
      const admin = await ledger.keys.create({ accountId, name: 'billing', scopes: ['admin', 'keys:write'] });
      await ledger.access.setRole(accountId, 'operator');
      expect(await ledger.keys.authenticate(admin.rawKey)).to.be.an('object');
      await ledger.access.setRole(accountId, 'user');
      expect(await ledger.keys.authenticate(admin.rawKey)).to.equal(null);
      expect(await ledger.keys.authenticate(ann.key.rawKey)).to.be.an('object');
    });
  });

  describe('usage of all accounts', () => {
    const today = '2026-01-15';
    const all = { from: today, to: today, accountId: null, limit: 99, after: null };

    it('is reported by day, account and endpoint, in pages', async () => {
      const bob = await customer(ledger, 'bob@example.com', 50);
      const { administration } = ledger;
      for (const [who, endpoint] of [
        [ann, ENDPOINT],
        [bob, ENDPOINT],
        [bob, '/api/v1/jobs'],
        [bob, ENDPOINT],
      ] as const) {
        await ledger.holds.settle(await hold(ledger, who, 2), settlement(2, { endpoint }));
      }
      bench.now += DAY_MS;
      await ledger.holds.settle(await hold(ledger, ann, 7), settlement(7));
      const rows = await administration.usage(all);
      const row = (who: KeyHolder, endpoint: string, requests: number): unknown => ({
        ...{ date: today, accountId: who.account.id, email: who.account.email, endpoint },
        ...{ requests, minutes: 2 * requests, credits: 2 * requests },
      });
      expect(rows).to.have.deep.members([row(ann, ENDPOINT, 1), row(bob, ENDPOINT, 2), row(bob, '/api/v1/jobs', 1)]);
      const tomorrow = { ...all, from: '2026-01-16', to: '2026-01-20' };
      expect((await administration.usage(tomorrow)).map(({ credits }) => credits)).to.deep.equal([7]);
      const both = { ...all, to: '2026-01-16' };
      const paged: AccountUsage[] = [];
      for (let next: AccountUsage[]; ; paged.push(...next)) {
        next = await administration.usage({ ...both, limit: 1, after: paged.at(-1) ?? null });
        if (next.length === 0) break;
      }
      expect(paged).to.deep.equal(await administration.usage(both));
      expect(paged).to.have.length(4);
      const ofBob = await administration.usage({ ...both, accountId: bob.account.id });
      expect(ofBob.map(({ email }) => email)).to.deep.equal(['bob@example.com', 'bob@example.com']);
    });

    it('stays when an account is deleted, and names nobody', async () => {
      await ledger.holds.settle(await hold(ledger, ann, 2), settlement(2));
      await ledger.administration.delete(ann.account.id);
      const [row] = await ledger.administration.usage(all);
      expect(row).to.include({ accountId: ann.account.id, email: null, credits: 2 });
    });

    it('is refused for days that are none', async () => {
      for (const days of [
        { from: 'x' },
        { to: '2026-02-30' },
        { from: '2026-01-15T00:00:00Z' },
        { to: '2026-01-14' },
      ]) {
        expect(await codeOf(() => ledger.administration.usage({ ...all, ...days }))).to.equal('invalid_request');
      }
    });
  });

  describe('a payment', () => {
    it('grants one pack, however often the payment is reported', async () => {
      const { id: accountId } = ann.account;
      const paid = { accountId, amount: 10, paymentId: 'pay_1' };
      const pack = await ledger.credits.grant({ ...paid, expiresAt: '2026-06-30' });
      expect(pack).to.include({ purchased: 10, paymentId: 'pay_1', repeated: false });
      bench.now += DAY_MS;
      const again = await (await bench.cli()).credits.grant({ ...paid, expiresAt: '2026-07-31' });
      expect(again).to.deep.equal({ ...pack, repeated: true });
      expect((await ledger.credits.balance(accountId)).balance).to.equal(110);
      expect(await ledger.credits.grant({ ...paid, paymentId: 'pay_2' })).to.include({ repeated: false });
      await hold(ledger, ann, 115);
      expect((await ledger.credits.grant(paid)).remaining).to.be.below(10);
    });

    it('is refused for another amount or account', async () => {
      const { id: accountId } = ann.account;
      const bob = await customer(ledger, 'bob@example.com');
      await ledger.credits.grant({ accountId, amount: 10, paymentId: 'pay_1' });
      for (const other of [
        { accountId, amount: 11 },
        { accountId: bob.account.id, amount: 10 },
      ]) {
        expect(await codeOf(() => ledger.credits.grant({ ...other, paymentId: 'pay_1' }))).to.equal(
          'idempotency_conflict',
        );
      }
      for (const paymentId of ['', ' ', 'a b', 'ä', 'x'.repeat(256)]) {
        expect(await codeOf(() => ledger.credits.grant({ accountId, amount: 10, paymentId }))).to.equal(
          'invalid_request',
        );
      }
      expect((await ledger.credits.balance(accountId)).lifetimePurchased).to.equal(110);
      expect((await ledger.credits.balance(bob.account.id)).lifetimePurchased).to.equal(0);
    });
  });
});
