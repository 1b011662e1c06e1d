/** What an account asked for and what runs, as one list. */
import { expect } from 'chai';
import type { ActivityQuery, Activity } from '../../src/ledger/history.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { DAY_MS } from '../../src/ledger/time.js';
import { MOST_SCANNED } from '../../src/ledger/rows/activity.js';
import { describeLedger } from './backends.js';
import {
  codeOf,
  customer,
  ENDPOINT,
  jobSettlement,
  settlement,
  useLedger,
  type Bench,
  type KeyHolder,
} from './support.js';

const ALL: ActivityQuery = { state: null, keyId: null, endpoint: null, days: null, limit: 20, after: null };

describeLedger('ledger: activity', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: KeyHolder;
  useLedger(1000, (fixture) => ({ bench, ledger, ann } = fixture), backend);

  const list = async (query: Partial<ActivityQuery> = {}, who = ann): Promise<Activity[]> =>
    (await ledger.history.activity(who.account.id, { ...ALL, ...query })).entries;
  const names = async (query: Partial<ActivityQuery> = {}): Promise<(string | null)[]> =>
    (await list(query)).map(({ fileName }) => fileName);

  async function place(fileName: string | null, { account, key } = ann, credits = 2): Promise<string> {
    bench.now += 1000;
    const request = { accountId: account.id, keyId: key.id, requestId: `req_${fileName}`, credits, fileName };
    return (await ledger.holds.place(request)).id;
  }
  async function charge(fileName: string | null, who = ann, endpoint = ENDPOINT): Promise<void> {
    const id = await place(fileName, who);
    await ledger.holds.settle(id, settlement(1, { endpoint, requestId: `req_${fileName}`, transcriptionId: 'tr_9' }));
  }
  async function job(id: string, fileName: string): Promise<void> {
    bench.now += 1000;
    const owner = { accountId: ann.account.id, keyId: ann.key.id, requestId: `req_${id}`, options: {} };
    await ledger.jobs.create({
      ...{ ...owner, id, fileName, audioSeconds: 60.5, credits: 2 },
      ...{ mostOpen: 9, webhook: null, idempotency: null },
    });
  }
  const take = async () => (await ledger.jobs.take({ leaseMs: 60_000, mostPerAccount: 9 }))!.lease;

  it('has requests that are done or run, and jobs in every state, the newest first, each once', async () => {
    await charge('done.wav');
    await job('job_done', 'succeeded.mp3');
    await ledger.jobs.succeed(await take(), jobSettlement());
    await job('job_failed', 'failed.mp3');
    await ledger.jobs.fail(await take(), { code: 'invalid_audio', message: 'x', param: null });
    await job('job_cancelled', 'cancelled.mp3');
    await ledger.jobs.end(ann.account.id, 'job_cancelled', 'cancel');
    await job('job_running', 'running.mp3');
    await take();
    await job('job_queued', 'queued.mp3');
    const open = await place('request.wav');
    const found = (await list()).map(({ fileName, jobId, state, credits }) => [fileName, jobId, state, credits]);
    expect(found).to.deep.equal([
      ['request.wav', null, 'running', 2],
      ['queued.mp3', 'job_queued', 'queued', 2],
      ['running.mp3', 'job_running', 'running', 2],
      ['cancelled.mp3', 'job_cancelled', 'cancelled', 0],
      ['failed.mp3', 'job_failed', 'failed', 0],
      ['succeeded.mp3', 'job_done', 'done', 2],
      ['done.wav', null, 'done', 1],
    ]);
    const entries = await list({ state: 'done' });
    expect(entries[0]).to.deep.include({ endpoint: '/api/v1/jobs', model: 'base', language: 'en', audioSeconds: 60.5 });
    expect(entries[1]).to.deep.include({ requestId: 'req_done.wav', transcriptionId: 'tr_9', audioSeconds: 60 });
    expect(entries[1]).to.include({ keyId: ann.key.id, keyName: 'test', endpoint: ENDPOINT });
    await ledger.holds.release(open);
  });

  it('shows the charge of a job that was deleted', async () => {
    await job('job_1', 'meeting.mp3');
    await ledger.jobs.succeed(await take(), jobSettlement());
    await ledger.jobs.end(ann.account.id, 'job_1', 'delete');
    const [entry, ...others] = await list();
    expect(entry).to.include({ jobId: null, fileName: 'meeting.mp3', endpoint: '/api/v1/jobs', state: 'done' });
    expect(others).to.deep.equal([]);
  });

  it('is filtered by state, key, endpoint and days', async () => {
    const { account } = ann;
    const other = { account, key: await ledger.keys.create({ accountId: account.id, name: 'other', scopes: [] }) };
    await charge('old.wav');
    bench.now += 2 * DAY_MS;
    await charge('ann.wav');
    await charge('other.wav', other);
    await charge('openai.wav', ann, '/v1/audio/transcriptions');
    await job('job_1', 'job.wav');
    expect(await names()).to.deep.equal(['job.wav', 'openai.wav', 'other.wav', 'ann.wav', 'old.wav']);
    expect(await names({ state: 'queued' })).to.deep.equal(['job.wav']);
    expect(await names({ state: 'running' })).to.deep.equal([]);
    expect(await names({ keyId: other.key.id })).to.deep.equal(['other.wav']);
    expect(await names({ endpoint: '/v1/audio/transcriptions' })).to.deep.equal(['openai.wav']);
    expect(await names({ days: 2 })).to.deep.equal(['job.wav', 'openai.wav', 'other.wav', 'ann.wav']);
    expect(await names({ days: 3, state: 'done', keyId: ann.key.id, endpoint: ENDPOINT })).to.deep.equal([
      ...['ann.wav', 'old.wav'],
    ]);
    expect(await codeOf(() => list({ days: 91 }))).to.equal('invalid_request');
  });

  it('is one’s own alone, and of a key of another account nothing is found', async () => {
    const bob = await customer(ledger, 'bob@example.com', 9);
    await charge('bob.wav', bob);
    await charge('ann.wav');
    expect(await names()).to.deep.equal(['ann.wav']);
    expect(await names({ keyId: bob.key.id })).to.deep.equal([]);
  });

  it('goes back page by page, past entries of the same moment, and ends', async () => {
    for (let n = 0; n < 7; n += 1) {
      const id = await place(`${n}.wav`);
      bench.now = Date.UTC(2026, 0, 15, 13);
      await ledger.holds.settle(id, settlement(0));
    }
    const seen: (string | null)[] = [];
    let after: ActivityQuery['after'] = null;
    let pages = 0;
    do {
      const page = await ledger.history.activity(ann.account.id, { ...ALL, limit: 3, after });
      seen.push(...page.entries.map(({ fileName }) => fileName));
      after = page.next;
      pages += 1;
    } while (after !== null);
    expect(pages).to.equal(3);
    expect(seen).to.deep.equal(['6.wav', '5.wav', '4.wav', '3.wav', '2.wav', '1.wav', '0.wav']);
  });

  it('looks through a bounded number of charges for a filter, and goes on from there', async () => {
    const { account } = ann;
    const rare = await ledger.keys.create({ accountId: account.id, name: 'rare', scopes: [] });
    await charge('rare.wav', { account, key: rare });
    const { key } = ann;
    await bench.rows(
      `WITH RECURSIVE ids (id) AS (SELECT 1000 UNION ALL SELECT id + 1 FROM ids WHERE id < ${999 + 2 * MOST_SCANNED})
       INSERT INTO holds (id, account_id, key_id, request_id, credits, created_at, settled_at)
       SELECT id, '${account.id}', '${key.id}', 'req', 0, ${bench.now} + id, ${bench.now} + id FROM ids RETURNING 1`,
    );
    await bench.rows(
      `INSERT INTO usage_events
         (hold_id, account_id, key_id, request_id, endpoint, audio_ms, minutes, credits, created_at)
       SELECT id, account_id, key_id, 'req', '/x', 0, 0, 0, settled_at FROM holds WHERE id >= 1000 RETURNING 1`,
    );
    const day = Math.floor(bench.now / DAY_MS);
    for (const [table, column, value] of [
      ['usage_days', 'endpoint', `'/x'`],
      ['usage_keys', 'model, key_id', `'', '${key.id}'`],
    ]) {
      await bench.rows(
        `INSERT INTO ${table} (account_id, day, ${column}, requests, minutes, credits)
         VALUES ('${account.id}', ${day}, ${value}, ${2 * MOST_SCANNED}, 0, 0) RETURNING 1`,
      );
    }
    let after: ActivityQuery['after'] = null;
    const found: number[] = [];
    do {
      const page = await ledger.history.activity(account.id, { ...ALL, keyId: rare.id, after });
      found.push(page.entries.length);
      after = page.next;
    } while (after !== null);
    expect(found).to.deep.equal([0, 0, 1]);
  });

  it('is summed by key and by model', async () => {
    const { account } = ann;
    const other = { account, key: await ledger.keys.create({ accountId: account.id, name: 'other', scopes: [] }) };
    await charge('old.wav');
    bench.now += 40 * DAY_MS;
    for (const [who, model] of [
      [ann, 'base'],
      [other, 'large-v3'],
      [other, 'base'],
      [other, null],
    ] as const) {
      await ledger.holds.settle(await place(null, who), settlement(2, { model }));
    }
    expect(await ledger.history.usageByKey(account.id, 30)).to.deep.equal([
      { keyId: other.key.id, name: 'other', requests: 3, minutes: 6, credits: 6 },
      { keyId: ann.key.id, name: 'test', requests: 1, minutes: 2, credits: 2 },
    ]);
    expect(await ledger.history.usageByModel(account.id, 30)).to.deep.equal([
      { model: 'base', requests: 2, minutes: 4, credits: 4 },
      { model: null, requests: 1, minutes: 2, credits: 2 },
      { model: 'large-v3', requests: 1, minutes: 2, credits: 2 },
    ]);
    expect((await ledger.history.usageByKey(account.id, 90))[1]).to.include({ requests: 2, credits: 3 });
    expect(await codeOf(() => ledger.history.usageByKey(account.id, 91))).to.equal('invalid_request');
    expect(await codeOf(() => ledger.history.usageByModel(account.id, 0))).to.equal('invalid_request');
  });
});
