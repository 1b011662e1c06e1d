/** What is left of a deleted account. */
import { expect } from 'chai';
import { exportOf } from '../../src/ledger/account-export.js';
import { DAY_MS } from '../../src/ledger/time.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { describeLedger } from './backends.js';
import {
  type Bench,
  codeOf,
  customer,
  ENDPOINT,
  hold,
  refusal,
  settlement,
  useLedger,
  type KeyHolder,
} from './support.js';
import { grow, PASSWORD, BROWSER } from './full-account.js';

/** Of an account, and of what it can have. */
const TABLES = [
  ...['accounts', 'api_keys', 'credit_packs', 'holds', 'hold_parts', 'usage_events', 'usage_days', 'usage_keys'],
  ...['jobs', 'account_terms'],
  ...['idempotency_records', 'webhook_events', 'sessions', 'passwords', 'sign_in_links', 'dashboard_keys'],
  ...['libraries', 'transcripts', 'transcript_search', 'transcript_changes', 'transcript_shares'],
];

/** Requests that cost nothing, straight into the ledger; their ids are above all others. */
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
  await bench.rows(
    `INSERT INTO usage_keys (account_id, day, key_id, model, requests, minutes, credits)
     VALUES ('${account.id}', ${Math.floor(bench.now / DAY_MS)}, '${key.id}', '', ${times}, 0, 0) RETURNING 1`,
  );
}

describeLedger('ledger: a deleted account', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: KeyHolder;
  useLedger(100, (fixture) => ({ bench, ledger, ann } = fixture), backend);

  it('leaves nothing that shows who it was or what was spoken, and keeps the money', async () => {
    const { id } = ann.account;
    const { session, link, share } = await grow(ledger, ann);
    const { access, administration } = ledger;
    await administration.delete(id);

    expect(await ledger.keys.authenticate(ann.key.rawKey)).to.equal(null);
    expect(await ledger.keys.revokedAmong([ann.key.id])).to.deep.equal([ann.key.id]);
    expect(await access.findSession(session)).to.equal(null);
    expect(await access.linkOwner(link)).to.equal(null);
    expect(await access.findPassword('ann@example.com')).to.equal(null);
    expect(await ledger.accounts.find('ann@example.com')).to.equal(null);
    expect(await ledger.transcripts.findShared(share)).to.equal(null);
    expect(await ledger.jobs.list(id, { status: null, limit: 9, after: null })).to.deep.equal([]);
    expect(await ledger.webhooks.list({ state: null, limit: 9 })).to.deep.equal([]);
    expect(await ledger.idempotency.has(id, 'order 7')).to.equal(false);
    expect((await ledger.credits.balance(id)).balance).to.equal(0);
    expect(await ledger.credits.packs(id, 9))
      .to.have.nested.property('[0]')
      .that.includes({
        ...{ purchased: 100, spent: 3, expired: 97, remaining: 0, held: 0 },
      });
    const [charged] = await ledger.history.charged(id, { limit: 9, before: null });
    expect(charged).to.include({ credits: 3, minutes: 3, endpoint: ENDPOINT, requestId: '' });
    expect(charged).to.include({ transcriptionId: null, language: null, fileName: null, model: 'base' });
    const stored = JSON.stringify(await Promise.all(TABLES.map((table) => bench.rows(`SELECT * FROM ${table}`))));
    const traces = ['ann', 'Ann', 'order 7', 'aloud', 'req_1', 'job_1', 'tr_1', 'example.com', '192.0.2.7', 'Firefox'];
    traces.push('interview');
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
      () => access.setPassword(accountId, PASSWORD, BROWSER),
      () => access.dashboardKey(accountId),
      () => ledger.keys.create({ accountId, name: 'k', scopes: [] }),
      () => ledger.credits.grant({ accountId, amount: 1 }),
      () => exportOf(ledger, accountId, new Date()).next(),
    ]) {
      expect(await codeOf(work)).to.equal('account_not_found');
    }
    expect((await ledger.accounts.create({ email: 'ann@example.com' })).id).not.to.equal(accountId);
  });

  it('is never charged for what was in flight, nor is its answer kept', async () => {
    const { id: accountId } = ann.account;
    const begun = await ledger.idempotency.begin({ accountId, key: 'k', fingerprint: 'f' });
    if (begun.state !== 'new') throw new Error(begun.state);
    const open = await hold(ledger, ann, 5);
    await (await bench.cli()).administration.delete(accountId);
    const late = settlement(5, { idempotencyToken: begun.token, delivered: true });
    expect(await codeOf(() => ledger.holds.settle(open, late))).to.equal('invalid_api_key');
    expect(await codeOf(() => hold(ledger, ann, 0))).to.equal('invalid_api_key');
    await ledger.holds.release(open);
    await ledger.idempotency.abandon(begun.token);
    expect(await bench.rows('SELECT * FROM idempotency_records')).to.deep.equal([]);
    expect((await ledger.credits.balance(accountId)).balance).to.equal(0);
    expect((await ledger.credits.packs(accountId, 9))[0]).to.include({ expired: 100, held: 0 });
  });

  it('takes its running job from the server that works on it', async () => {
    await grow(ledger, ann);
    const terms = { leaseMs: 1000, mostPerAccount: 1 };
    const taken = await ledger.jobs.take(terms);
    expect(taken?.job.id).to.equal('job_2');
    await ledger.administration.delete(ann.account.id);
    expect(await ledger.jobs.renew([{ lease: taken!.lease, doneSeconds: 1 }], 1000)).to.deep.equal(['job_2']);
    expect(await ledger.jobs.fail(taken!.lease, { code: 'x', message: 'x', param: null })).to.equal(false);
    expect(await ledger.jobs.take(terms)).to.equal(null);
  });

  it('of many requests is deleted in pieces, and by whoever keeps house when that broke off', async () => {
    const { id } = ann.account;
    await chargeOften(bench, ann, 1001);
    const left = async (): Promise<number> =>
      (await bench.rows<{ n: number }>(`SELECT count(*) AS n FROM usage_events WHERE request_id <> ''`))[0]!.n;
    // What a process leaves that dies in the midst of it.
    await bench.rows(`UPDATE accounts SET email = NULL, deleted_at = 1, erased_to = 0 WHERE id = '${id}' RETURNING 1`);
    expect(await left()).to.equal(1001);
    await bench.runHousekeeping();
    expect(await left()).to.equal(1);
    await bench.runHousekeeping();
    expect(await left()).to.equal(0);
    expect(await bench.rows('SELECT erased_to FROM accounts')).to.deep.equal([{ erased_to: null }]);
  });

  it('of many requests is deleted whole', async () => {
    await chargeOften(bench, ann, 2001);
    await ledger.administration.delete(ann.account.id);
    expect(await bench.rows(`SELECT 1 FROM usage_events WHERE request_id <> ''`)).to.deep.equal([]);
    expect(await bench.rows(`SELECT 1 FROM holds WHERE request_id <> ''`)).to.deep.equal([]);
  });

  it('leaves rows of money that nobody changes', async () => {
    await grow(ledger, ann);
    await ledger.administration.delete(ann.account.id);
    const refused = async (sql: string): Promise<void> => {
      expect((await refusal(() => bench.rows(`${sql} RETURNING 1`))).message, sql).to.match(/append-only|final/);
    };
    await refused('UPDATE usage_events SET credits = 0');
    await refused(`UPDATE usage_events SET endpoint = 'other'`);
    await refused(`UPDATE usage_events SET model = 'other'`);
    await refused('DELETE FROM usage_events');
    await refused('UPDATE holds SET credits = 0');
    await refused('DELETE FROM holds');
    const bob = await customer(ledger, 'bob@example.com', 5);
    await ledger.holds.settle(await hold(ledger, bob, 1), settlement(1));
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
    expect(await ledger.accounts.createFirst(first)).to.equal(null);
  });
});
