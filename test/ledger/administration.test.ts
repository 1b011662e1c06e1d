import { expect } from 'chai';
import { exportOf } from '../../src/ledger/account-export.js';
import type { AccountUsage } from '../../src/ledger/administration.js';
import { DAY_MS } from '../../src/ledger/time.js';
import type { Ledger } from '../../src/ledger/types.js';
import { describeLedger } from './backends.js';
import {
  type Bench,
  codeOf,
  customer,
  ENDPOINT,
  hold,
  refusal,
  settlement,
  useBooks,
  type KeyHolder,
} from './support.js';

const NOBODY = 'acc_nobody';
const VISITOR = { browser: 'Firefox', address: '192.0.2.7' };
const PASSWORD = {
  ...{ cost: 16, blockSize: 8, parallelization: 1 },
  ...{ salt: Buffer.alloc(16, 1), hash: Buffer.alloc(32, 2) },
};

interface Grown {
  session: string;
  link: string;
  token: string;
}

/** Gives the account one of everything that can be stored on it; 3 credits are spent, 2 held by a job. */
async function grow(ledger: Ledger, who: KeyHolder): Promise<Grown> {
  const { id: accountId } = who.account;
  const { access, jobs } = ledger;
  const begun = await ledger.beginIdempotent({ accountId, key: 'order 7', fingerprint: 'f' });
  if (begun.state !== 'new') throw new Error(begun.state);
  const answered = { idempotencyToken: begun.token, result: { text: 'a secret said aloud' } };
  await ledger.settle(await hold(ledger, who, 3), settlement(3, answered));
  const session = await access.setPassword(accountId, PASSWORD, VISITOR);
  await access.dashboardKey(accountId);
  for (const id of ['job_1', 'job_2']) {
    await jobs.create({
      ...{ id, accountId, keyId: who.key.id, requestId: `${id}'s request`, audioSeconds: 60, credits: 2 },
      ...{ options: { prompt: 'Ann Smith' }, mostOpen: 9, idempotency: null },
      webhook: { url: 'https://example.com/hook', secret: 'whsec_QUJD' },
    });
  }
  await jobs.end(accountId, 'job_1', 'cancel');
  const { token: link } = await access.createLink(accountId);
  return { session: session.token, link, token: begun.token };
}

/** Requests that cost nothing, straight into the books; their ids are above all others. */
async function chargeOften(bench: Bench, { account, key }: KeyHolder, times: number): Promise<void> {
  const first = 1_000_000;
  await bench.rows(
    `WITH RECURSIVE ids (id) AS (SELECT ${first} UNION ALL SELECT id + 1 FROM ids WHERE id < ${first + times - 1})
     INSERT INTO holds (id, account_id, key_id, request_id, credits, created_at, settled_at)
     SELECT id, '${account.id}', '${key.id}', 'req_1', 0, ${bench.now}, ${bench.now} FROM ids RETURNING 1`,
  );
  await bench.rows(
    `INSERT INTO usage_events (hold_id, account_id, key_id, request_id, endpoint, audio_ms, minutes, credits, created_at)
     SELECT id, account_id, key_id, request_id, '${ENDPOINT}', 0, 0, 0, ${bench.now} FROM holds
     WHERE account_id = '${account.id}' RETURNING 1`,
  );
  await bench.rows(
    `INSERT INTO usage_days (account_id, day, endpoint, requests, minutes, credits)
     VALUES ('${account.id}', ${Math.floor(bench.now / DAY_MS)}, '${ENDPOINT}', ${times}, 0, 0) RETURNING 1`,
  );
}

/** Of an account, and of what it can have. */
const TABLES = [
  ...['accounts', 'api_keys', 'credit_packs', 'holds', 'hold_parts', 'usage_events', 'usage_days', 'jobs'],
  ...['idempotency_records', 'webhook_events', 'sessions', 'passwords', 'sign_in_links', 'dashboard_keys'],
];

async function whole(ledger: Ledger, accountId: string, at: number): Promise<Record<string, unknown>> {
  let text = '';
  for await (const piece of exportOf(ledger, accountId, new Date(at))) text += piece;
  return JSON.parse(text) as Record<string, unknown>;
}

describeLedger('ledger: what operators do with accounts', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: KeyHolder;
  useBooks(100, (books) => ({ bench, ledger, ann } = books), backend);

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
      expect(await ledger.listAccounts()).to.deep.equal(left);
    });
  });

  describe('a suspended account', () => {
    it('is told from its first suspension to its end', async () => {
      const { administration } = ledger;
      const suspended = await administration.suspend(ann.account.id);
      expect(suspended).to.deep.equal({ ...ann.account, suspendedAt: '2026-01-15T12:00:00.000Z' });
      bench.now += 1000;
      expect(await administration.suspend(ann.account.id)).to.deep.equal(suspended);
      expect(await ledger.findAccount(ann.account.email)).to.deep.equal(suspended);
      expect(await administration.resume(ann.account.id)).to.deep.equal(ann.account);
      expect(await codeOf(() => administration.suspend(NOBODY))).to.equal('account_not_found');
      expect(await codeOf(() => administration.resume(NOBODY))).to.equal('account_not_found');
    });

    it('is let in by no key, link or password, and by all of them when it is resumed', async () => {
      const { access, administration } = ledger;
      const { session, link } = await grow(ledger, ann);
      await administration.suspend(ann.account.id);
      const tries = [
        () => ledger.authenticate(ann.key.rawKey),
        () => access.useLink(link, VISITOR),
        () => access.startSession(ann.account.id, PASSWORD, VISITOR),
      ];
      for (const work of tries) expect(await codeOf(work)).to.equal('account_suspended');
      expect((await access.findSession(session))?.account.suspendedAt).to.be.a('string');
      expect(
        await access.startSession(ann.account.id, { ...PASSWORD, hash: Buffer.alloc(32) }, VISITOR),
      ).to.equal(null);
      await administration.resume(ann.account.id);
      expect((await access.findSession(session))?.account.suspendedAt).to.equal(null);
      for (const work of tries) expect(await work()).to.be.an('object');
    });

    it('has what is in flight end as when its key is revoked, uncharged', async () => {
      const [open, streamed] = [await hold(ledger, ann, 5), await hold(ledger, ann, 5)];
      const bob = await customer(ledger, 'bob@example.com', 10);
      await (await bench.cli()).administration.suspend(ann.account.id);
      expect(await ledger.revokedAmong([ann.key.id, bob.key.id])).to.deep.equal([ann.key.id]);
      expect(await codeOf(() => ledger.settle(open, settlement(5)))).to.equal('invalid_api_key');
      expect(await codeOf(() => hold(ledger, ann, 1))).to.equal('invalid_api_key');
      await ledger.release(open);
      expect((await ledger.balance(ann.account.id)).balance).to.equal(95);
      // What its client has got of a stream is paid for.
      await ledger.settle(streamed, settlement(2, { delivered: true }));
      expect((await ledger.balance(ann.account.id)).balance).to.equal(98);
      await ledger.administration.resume(ann.account.id);
      expect(await ledger.revokedAmong([ann.key.id])).to.deep.equal([]);
    });
  });

  describe('a role that is taken away', () => {
    it('takes the admin keys with it, and no others', async () => {
      const { id: accountId } = ann.account;
      await ledger.access.setRole(accountId, 'operator');
      const admin = await ledger.createKey({ accountId, name: 'billing', scopes: ['admin', 'keys:write'] });
      await ledger.access.setRole(accountId, 'operator');
      expect(await ledger.authenticate(admin.rawKey)).to.be.an('object');
      await ledger.access.setRole(accountId, 'user');
      expect(await ledger.authenticate(admin.rawKey)).to.equal(null);
      expect(await ledger.authenticate(ann.key.rawKey)).to.be.an('object');
    });
  });

  describe('a deleted account', () => {
    it('leaves nothing that tells who it was or what was said, and the money', async () => {
      const { id } = ann.account;
      const { session, link } = await grow(ledger, ann);
      const { access, administration } = ledger;
      await administration.delete(id);

      expect(await ledger.authenticate(ann.key.rawKey)).to.equal(null);
      expect(await ledger.revokedAmong([ann.key.id])).to.deep.equal([ann.key.id]);
      expect(await access.findSession(session)).to.equal(null);
      expect(await access.linkOwner(link)).to.equal(null);
      expect(await access.findPassword('ann@example.com')).to.equal(null);
      expect(await ledger.findAccount('ann@example.com')).to.equal(null);
      expect(await ledger.jobs.list(id, { status: null, limit: 9, after: null })).to.deep.equal([]);
      expect(await ledger.webhooks.list({ state: null, limit: 9 })).to.deep.equal([]);
      expect(await ledger.knowsIdempotencyKey(id, 'order 7')).to.equal(false);
      expect((await ledger.balance(id)).balance).to.equal(0);
      expect(await ledger.listPacks(id, 9))
        .to.have.nested.property('[0]')
        .that.includes({
          ...{ purchased: 100, spent: 3, expired: 97, remaining: 0, held: 0 },
        });
      const [charged] = await ledger.history.charged(id, { limit: 9, before: null });
      expect(charged).to.include({ credits: 3, minutes: 3, endpoint: ENDPOINT, requestId: '' });
      expect(charged).to.include({ transcriptionId: null, language: null });
      const stored = JSON.stringify(
        await Promise.all(TABLES.map((table) => bench.rows(`SELECT * FROM ${table}`))),
      );
      const traces = [
        'ann',
        'Ann',
        'order 7',
        'aloud',
        'req_1',
        'job_1',
        'tr_1',
        'example.com',
        '192.0.2.7',
        'Firefox',
      ];
      for (const trace of [...traces, ann.key.prefix]) expect(stored).not.to.contain(trace);
    });

    it('is unknown to all that is asked of it, and its address is free', async () => {
      const { id: accountId } = ann.account;
      const { access, administration } = ledger;
      await administration.delete(accountId);
      for (const work of [
        () => administration.delete(accountId),
        () => administration.suspend(accountId),
        () => administration.resume(accountId),
        () => access.setRole(accountId, 'operator'),
        () => access.createLink(accountId),
        () => access.setPassword(accountId, PASSWORD, VISITOR),
        () => access.dashboardKey(accountId),
        () => ledger.createKey({ accountId, name: 'k', scopes: [] }),
        () => ledger.grantCredits({ accountId, amount: 1 }),
        () => exportOf(ledger, accountId, new Date()).next(),
      ]) {
        expect(await codeOf(work)).to.equal('account_not_found');
      }
      expect((await ledger.createAccount({ email: 'ann@example.com' })).id).not.to.equal(accountId);
    });

    it('is never charged for what was in flight, nor is its answer kept', async () => {
      const { id: accountId } = ann.account;
      const begun = await ledger.beginIdempotent({ accountId, key: 'k', fingerprint: 'f' });
      if (begun.state !== 'new') throw new Error(begun.state);
      const open = await hold(ledger, ann, 5);
      await (await bench.cli()).administration.delete(accountId);
      const late = settlement(5, { idempotencyToken: begun.token, delivered: true });
      expect(await codeOf(() => ledger.settle(open, late))).to.equal('invalid_api_key');
      expect(await codeOf(() => hold(ledger, ann, 0))).to.equal('invalid_api_key');
      await ledger.release(open);
      await ledger.abandonIdempotent(begun.token);
      expect(await bench.rows('SELECT * FROM idempotency_records')).to.deep.equal([]);
      expect((await ledger.balance(accountId)).balance).to.equal(0);
      expect((await ledger.listPacks(accountId, 9))[0]).to.include({ expired: 100, held: 0 });
    });

    it('takes its running job from the server that works on it', async () => {
      await grow(ledger, ann);
      const terms = { leaseMs: 1000, mostPerAccount: 1 };
      const taken = await ledger.jobs.take(terms);
      expect(taken?.job.id).to.equal('job_2');
      await ledger.administration.delete(ann.account.id);
      expect(await ledger.jobs.renew([{ lease: taken!.lease, doneSeconds: 1 }], 1000)).to.deep.equal([
        'job_2',
      ]);
      expect(await ledger.jobs.fail(taken!.lease, { code: 'x', message: 'x', param: null })).to.equal(false);
      expect(await ledger.jobs.take(terms)).to.equal(null);
    });

    it('of many requests is forgotten in pieces, and by whoever keeps house when that broke off', async () => {
      const { id } = ann.account;
      await chargeOften(bench, ann, 1001);
      const left = async (): Promise<number> =>
        (await bench.rows<{ n: number }>(`SELECT count(*) AS n FROM usage_events WHERE request_id <> ''`))[0]!
          .n;
      // What a process leaves that dies in the midst of it.
      await bench.rows(
        `UPDATE accounts SET email = NULL, deleted_at = 1, erased_to = 0 WHERE id = '${id}' RETURNING 1`,
      );
      expect(await left()).to.equal(1001);
      await bench.keepHouse();
      expect(await left()).to.equal(1);
      await bench.keepHouse();
      expect(await left()).to.equal(0);
      expect(await bench.rows('SELECT erased_to FROM accounts')).to.deep.equal([{ erased_to: null }]);
    });

    it('of many requests is forgotten whole', async () => {
      await chargeOften(bench, ann, 2001);
      await ledger.administration.delete(ann.account.id);
      expect(await bench.rows(`SELECT 1 FROM usage_events WHERE request_id <> ''`)).to.deep.equal([]);
      expect(await bench.rows(`SELECT 1 FROM holds WHERE request_id <> ''`)).to.deep.equal([]);
    });

    it('leaves rows of money that nobody changes', async () => {
      await grow(ledger, ann);
      await ledger.administration.delete(ann.account.id);
      const refused = async (sql: string): Promise<void> => {
        expect((await refusal(() => bench.rows(`${sql} RETURNING 1`))).message, sql).to.match(
          /append-only|final/,
        );
      };
      await refused('UPDATE usage_events SET credits = 0');
      await refused(`UPDATE usage_events SET endpoint = 'other'`);
      await refused('DELETE FROM usage_events');
      await refused('UPDATE holds SET credits = 0');
      await refused('DELETE FROM holds');
      const bob = await customer(ledger, 'bob@example.com', 5);
      await ledger.settle(await hold(ledger, bob, 1), settlement(1));
      for (const table of ['usage_events', 'holds']) {
        await refused(`UPDATE ${table} SET request_id = '' WHERE account_id = '${bob.account.id}'`);
      }
    });

    it('keeps a further start from making a first account', async () => {
      await ledger.administration.delete(ann.account.id);
      const first = {
        email: 'admin@localhost',
        name: 'Admin',
        role: 'operator' as const,
        credits: 1,
        keys: [],
      };
      expect(await ledger.createFirstAccount(first)).to.equal(null);
    });
  });

  describe('an export', () => {
    it('has all that is stored on the account, and nothing that opens anything', async () => {
      const { id } = ann.account;
      const grown = await grow(ledger, ann);
      const bob = await customer(ledger, 'bob@example.com', 5);
      await grow(ledger, { ...bob, account: bob.account }).catch(() => undefined); // job ids are taken
      const told = await whole(ledger, id, bench.now);
      expect(told).to.have.all.keys(
        ...['exported_at', 'account', 'keys', 'packs', 'sessions', 'running', 'usage', 'jobs'],
        ...['webhook_events', 'answers'],
      );
      const now = '2026-01-15T12:00:00.000Z';
      expect(told['exported_at']).to.equal(now);
      expect(told['account']).to.deep.equal({
        ...{ id, email: 'ann@example.com', name: null, role: 'user', created_at: now, suspended_at: null },
        ...{ password_set_at: now, sign_in_link_expires_at: '2026-01-16T12:00:00.000Z' },
      });
      expect(told).to.have.nested.property('keys.length', 2);
      expect(told).to.have.nested.property('packs[0].purchased', 100);
      expect(told).to.have.nested.property('sessions[0].address', '192.0.2.7');
      expect(told).to.have.nested.property('running[0].credits', 2);
      expect(told['usage']).to.deep.equal([
        {
          ...{ request_id: 'req_1', key_id: ann.key.id, transcription_id: 'tr_1', endpoint: ENDPOINT },
          ...{ audio_seconds: 180, minutes: 3, language: 'en', credits: 3, at: now },
        },
      ]);
      expect(told['jobs']).to.have.length(2);
      expect(told).to.have.nested.property('jobs[0].options.prompt', 'Ann Smith');
      expect(told).to.have.nested.property('jobs[0].webhook_url', 'https://example.com/hook');
      expect(told).to.have.nested.property('webhook_events[0].job_id', 'job_1');
      expect(told).to.have.nested.property('answers[0].idempotency_key', 'order 7');
      expect(told).to.have.nested.property('answers[0].answer.text', 'a secret said aloud');
      const text = JSON.stringify(told);
      for (const secret of [grown.session, grown.link, grown.token, ann.key.rawKey, 'whsec_', 'bob']) {
        expect(text).not.to.contain(secret);
      }
    });

    it('is read in pages', async () => {
      const { id: accountId } = ann.account;
      for (let n = 0; n < 205; n += 1) {
        const begun = await ledger.beginIdempotent({ accountId, key: `k${n}`, fingerprint: 'f' });
        const idempotencyToken = begun.state === 'new' ? begun.token : '';
        await ledger.settle(
          await hold(ledger, ann, 0),
          settlement(0, { idempotencyToken, requestId: `req_${n}` }),
        );
      }
      const told = (await whole(ledger, accountId, bench.now)) as Record<string, Record<string, string>[]>;
      expect(new Set(told['usage']!.map((row) => row['request_id'])).size).to.equal(205);
      expect(new Set(told['answers']!.map((row) => row['idempotency_key'])).size).to.equal(205);
      expect([told['usage']!.length, told['answers']!.length]).to.deep.equal([205, 205]);
    });
  });

  describe('usage of all accounts', () => {
    const today = '2026-01-15';
    const all = { from: today, to: today, accountId: null, limit: 99, after: null };

    it('is told by day, account and endpoint, in pages', async () => {
      const bob = await customer(ledger, 'bob@example.com', 50);
      const { administration } = ledger;
      for (const [who, endpoint] of [
        [ann, ENDPOINT],
        [bob, ENDPOINT],
        [bob, '/api/v1/jobs'],
        [bob, ENDPOINT],
      ] as const) {
        await ledger.settle(await hold(ledger, who, 2), settlement(2, { endpoint }));
      }
      bench.now += DAY_MS;
      await ledger.settle(await hold(ledger, ann, 7), settlement(7));
      const rows = await administration.usage(all);
      const row = (who: KeyHolder, endpoint: string, requests: number): unknown => ({
        ...{ date: today, accountId: who.account.id, email: who.account.email, endpoint },
        ...{ requests, minutes: 2 * requests, credits: 2 * requests },
      });
      expect(rows).to.have.deep.members([
        row(ann, ENDPOINT, 1),
        row(bob, ENDPOINT, 2),
        row(bob, '/api/v1/jobs', 1),
      ]);
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
      await ledger.settle(await hold(ledger, ann, 2), settlement(2));
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
        expect(await codeOf(() => ledger.administration.usage({ ...all, ...days }))).to.equal(
          'invalid_request',
        );
      }
    });
  });

  describe('a payment', () => {
    it('grants one pack, however often it is told', async () => {
      const { id: accountId } = ann.account;
      const paid = { accountId, amount: 10, paymentId: 'pay_1' };
      const pack = await ledger.grantCredits({ ...paid, expiresAt: '2026-06-30' });
      expect(pack).to.include({ purchased: 10, paymentId: 'pay_1', repeated: false });
      bench.now += DAY_MS;
      const again = await (await bench.cli()).grantCredits({ ...paid, expiresAt: '2026-07-31' });
      expect(again).to.deep.equal({ ...pack, repeated: true });
      expect((await ledger.balance(accountId)).balance).to.equal(110);
      expect(await ledger.grantCredits({ ...paid, paymentId: 'pay_2' })).to.include({ repeated: false });
      await hold(ledger, ann, 115);
      expect((await ledger.grantCredits(paid)).remaining).to.be.below(10);
    });

    it('is refused for another amount or account', async () => {
      const { id: accountId } = ann.account;
      const bob = await customer(ledger, 'bob@example.com');
      await ledger.grantCredits({ accountId, amount: 10, paymentId: 'pay_1' });
      for (const other of [
        { accountId, amount: 11 },
        { accountId: bob.account.id, amount: 10 },
      ]) {
        expect(await codeOf(() => ledger.grantCredits({ ...other, paymentId: 'pay_1' }))).to.equal(
          'idempotency_conflict',
        );
      }
      for (const paymentId of ['', ' ', 'a b', 'ä', 'x'.repeat(256)]) {
        expect(await codeOf(() => ledger.grantCredits({ accountId, amount: 10, paymentId }))).to.equal(
          'invalid_request',
        );
      }
      expect((await ledger.balance(accountId)).lifetimePurchased).to.equal(110);
      expect((await ledger.balance(bob.account.id)).lifetimePurchased).to.equal(0);
    });
  });
});
