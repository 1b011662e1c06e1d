/** Jobs in the ledger: held, leased, ended once, deleted. */
import { expect } from 'chai';
import type { WorkLease, NewJob, StoredJob, TakenJob } from '../../src/ledger/jobs.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { codeOf, customer, jobSettlement, useLedger, type Bench, type KeyHolder } from './support.js';
import { describeLedger } from './backends.js';

const TERMS = { leaseMs: 30_000, mostPerAccount: 2 };
const HOUR_MS = 3_600_000;

describeLedger('Jobs in the ledger', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: KeyHolder;
  let made: number;
  useLedger(
    10,
    (fixture) => {
      ({ bench, ledger, ann } = fixture);
      made = 0;
    },
    backend,
  );

  function create(more: Partial<NewJob> = {}, { account, key }: KeyHolder = ann): Promise<StoredJob> {
    bench.now += 1;
    return ledger.jobs.create({
      ...{ id: `job_${++made}`, accountId: account.id, keyId: key.id, requestId: `req_${made}` },
      ...{ options: { language: 'en' }, audioSeconds: 90.5, credits: 2, webhook: null, mostOpen: 100 },
      ...{ idempotency: null, ...more },
    });
  }
  async function take(from = ledger): Promise<TakenJob> {
    const taken = await from.jobs.take(TERMS);
    if (taken === null) throw new Error('There was none to take.');
    return taken;
  }
  const balance = async (): Promise<number> => (await ledger.credits.balance(ann.account.id)).balance;
  const find = async (id: string): Promise<StoredJob> => (await ledger.jobs.find(ann.account.id, id))!;
  const minutes = async (): Promise<number> => (await ledger.history.report(ann.account.id, 1)).totalMinutes;

  it('hold credits from the first moment, and are charged when they succeed', async () => {
    const job = await create();
    expect(job).to.include({ id: 'job_1', status: 'queued', startedAt: null, finishedAt: null });
    expect(await balance()).to.equal(8);
    const { lease, job: taken } = await take();
    expect(taken).to.include({ id: 'job_1', status: 'running' });
    expect(await ledger.jobs.succeed(lease, jobSettlement(1))).to.equal(true);
    const done = await find('job_1');
    expect(done).to.include({ status: 'succeeded', doneSeconds: 90.5 });
    expect(done.outcome).to.deep.equal({
      result: { text: 'hello' },
      charge: { creditsUsed: 1, creditsRemaining: 9 },
    });
    expect(await balance()).to.equal(9);
    expect(await minutes()).to.equal(1);
  });

  it('have the model that made their result once they have succeeded, in lists and to whoever deletes them', async () => {
    const { id: accountId } = ann.account;
    expect((await create()).model).to.equal(null);
    const { lease, job } = await take();
    expect(job.model).to.equal(null);
    await create();
    await ledger.jobs.succeed(lease, { ...jobSettlement(1), model: 'large-v3' });
    expect((await find('job_1')).model).to.equal('large-v3');
    const listed = await ledger.jobs.list(accountId, { status: null, limit: 9, after: null });
    expect(listed.map(({ model }) => model)).to.deep.equal([null, 'large-v3']);
    const [charged] = await ledger.history.charged(accountId, { limit: 1, before: null });
    expect(charged?.model).to.equal('large-v3');
    const deleted = await ledger.jobs.end(accountId, 'job_1', 'delete');
    expect(deleted).to.have.nested.property('job.model', 'large-v3');
  });

  it('release everything when they fail, and say why', async () => {
    await create();
    const { lease } = await take();
    const error = { code: 'invalid_audio', message: 'Broken.', param: 'audio' };
    expect(await ledger.jobs.fail(lease, error)).to.equal(true);
    expect(await find('job_1')).to.deep.include({ status: 'failed', error, outcome: null });
    expect(await balance()).to.equal(10);
  });

  it('are not made without the credits, the key, or beyond the limit; nothing is left of such', async () => {
    expect(await codeOf(() => create({ credits: 11 }))).to.equal('insufficient_credits');
    expect(await codeOf(() => create({ mostOpen: 0 }))).to.equal('rate_limited');
    await create({ mostOpen: 1 });
    expect(await codeOf(() => create({ mostOpen: 1 }))).to.equal('rate_limited');
    await ledger.keys.revoke(ann.account.id, ann.key.id);
    expect(await codeOf(() => create())).to.equal('invalid_api_key');
    expect(await ledger.jobs.countOpen(ann.account.id)).to.equal(1);
    expect(await balance()).to.equal(8);
  });

  it('are not charged when the key was revoked meanwhile', async () => {
    await create();
    const { lease } = await take();
    await ledger.keys.revoke(ann.account.id, ann.key.id);
    expect(await codeOf(() => ledger.jobs.succeed(lease, jobSettlement()))).to.equal('invalid_api_key');
    expect((await find('job_1')).status).to.equal('running');
    expect(await ledger.jobs.fail(lease, { code: 'invalid_api_key', message: '', param: null })).to.equal(true);
    expect(await balance()).to.equal(10);
  });

  it('are charged no more than is held, though the price has risen', async () => {
    await create();
    expect(await ledger.jobs.succeed((await take()).lease, jobSettlement(7))).to.equal(true);
    expect((await find('job_1')).outcome?.charge).to.deep.equal({ creditsUsed: 2, creditsRemaining: 8 });
  });

  it('are cancelled uncharged while they wait and while they run; then their worker is notified', async () => {
    await create();
    await create();
    const { lease } = await take();
    for (const id of ['job_1', 'job_2']) {
      const ended = await ledger.jobs.end(ann.account.id, id, 'cancel');
      expect(ended).to.deep.include({ isDone: true }).and.to.have.nested.property('job.status', 'cancelled');
    }
    expect(await balance()).to.equal(10);
    expect(await ledger.jobs.renew([{ lease, doneSeconds: 1 }], 1000)).to.deep.equal(['job_1']);
    expect(await ledger.jobs.succeed(lease, jobSettlement())).to.equal(false);
    expect(await ledger.jobs.fail(lease, { code: 'x', message: '', param: null })).to.equal(false);
    expect(await ledger.jobs.putBack(lease, { pauseMs: 0, interrupted: false })).to.equal(false);
    expect((await find('job_1')).status).to.equal('cancelled');
    expect(await minutes()).to.equal(0);
  });

  it('are deleted once they have ended, and belong to one account only', async () => {
    await create();
    const bob = await customer(ledger, 'bob@example.com');
    expect(await ledger.jobs.find(bob.account.id, 'job_1')).to.equal(null);
    for (const request of ['cancel', 'delete'] as const) {
      expect(await ledger.jobs.end(bob.account.id, 'job_1', request)).to.equal(null);
    }
    await ledger.jobs.end(ann.account.id, 'job_1', 'cancel');
    const deleted = await ledger.jobs.end(ann.account.id, 'job_1', 'delete');
    expect(deleted).to.deep.include({ isDone: true }).and.to.have.nested.property('job.status', 'cancelled');
    expect(await ledger.jobs.find(ann.account.id, 'job_1')).to.equal(null);
    expect(await ledger.jobs.end(ann.account.id, 'job_1', 'delete')).to.equal(null);
  });

  it('keep their result when they are to be cancelled too late, and go on when they are to be deleted too early', async () => {
    await create();
    expect(await ledger.jobs.end(ann.account.id, 'job_1', 'delete')).to.deep.equal({
      job: await find('job_1'),
      isDone: false,
    });
    expect((await find('job_1')).status).to.equal('queued');
    await ledger.jobs.succeed((await take()).lease, jobSettlement());
    const late = await ledger.jobs.end(ann.account.id, 'job_1', 'cancel');
    expect(late).to.deep.equal({ job: await find('job_1'), isDone: false });
    expect(late?.job.status).to.equal('succeeded');
    expect(late?.job.outcome).not.to.equal(null);
    expect(await ledger.audit()).to.deep.equal([]);
  });

  it('are taken oldest first, of accounts with fewest at work, up to so many of one', async () => {
    const bob = await customer(ledger, 'bob@example.com', 10);
    for (let n = 0; n < 4; n++) await create();
    await create({}, bob);
    const order: string[] = [];
    for (let taken = await ledger.jobs.take(TERMS); taken !== null; taken = await ledger.jobs.take(TERMS))
      order.push(taken.job.id);
    expect(order).to.deep.equal(['job_1', 'job_5', 'job_2']);
  });

  it('go to another server when a lease has lapsed, and the first one’s word counts no more', async () => {
    await create();
    const first = await take();
    const other = await bench.server();
    expect(await other.jobs.take(TERMS)).to.equal(null);
    bench.now += TERMS.leaseMs - 1;
    expect(await ledger.jobs.renew([{ lease: first.lease, doneSeconds: 12.5 }], TERMS.leaseMs)).to.deep.equal([]);
    expect((await find('job_1')).doneSeconds).to.equal(12.5);
    bench.now += TERMS.leaseMs;
    const second = await take(other);
    expect(second).to.deep.include({ lease: { id: 'job_1', attempt: 2 }, interruptions: 1 });
    expect(second.job.doneSeconds).to.equal(12.5);
    expect(await ledger.jobs.succeed(first.lease, jobSettlement())).to.equal(false);
    expect(await other.jobs.succeed(second.lease, jobSettlement())).to.equal(true);
    expect(await balance()).to.equal(8);
  });

  it('of a server that leaves go back into the queue, with their credits held', async () => {
    await create();
    const other = await bench.server();
    await take(other);
    await other.close();
    expect(await balance()).to.equal(8);
    expect(await find('job_1')).to.include({ status: 'queued', startedAt: null });
    expect((await take()).interruptions).to.equal(1);
  });

  it('wait as long as they were put back for, which is no interruption unless it was one', async () => {
    await create();
    const back = async (lease: WorkLease, interrupted: boolean): Promise<unknown> =>
      ledger.jobs.putBack(lease, { pauseMs: 1000, interrupted });
    expect(await back((await take()).lease, false)).to.equal(true);
    expect(await ledger.jobs.take(TERMS)).to.equal(null);
    bench.now += 1000;
    const again = await take();
    expect(again.interruptions).to.equal(0);
    await back(again.lease, true);
    bench.now += 1000;
    expect((await take()).interruptions).to.equal(1);
  });

  it('complete the record of an Idempotency-Key, which outlives them', async () => {
    const asked = { accountId: ann.account.id, key: 'once', fingerprint: 'f' };
    const begun = await ledger.idempotency.begin(asked);
    if (begun.state !== 'new') throw new Error(begun.state);
    await create({ idempotency: { token: begun.token, ticket: { id: 'job_1' } } });
    const { createdAt } = await find('job_1');
    await ledger.idempotency.abandon(begun.token);
    for (const request of ['cancel', 'delete'] as const) await ledger.jobs.end(ann.account.id, 'job_1', request);
    expect(await ledger.idempotency.begin(asked)).to.deep.equal({
      state: 'replay',
      answer: { kind: 'job', ticket: { id: 'job_1', createdAt } },
    });
    bench.now += 24 * HOUR_MS;
    expect((await ledger.idempotency.begin(asked)).state).to.equal('new');
  });

  it('are listed newest first, by status, page by page', async () => {
    for (let n = 0; n < 3; n++) await create();
    await ledger.jobs.end(ann.account.id, 'job_2', 'cancel');
    const list = async (query: object): Promise<string[]> =>
      (await ledger.jobs.list(ann.account.id, { status: null, limit: 10, after: null, ...query })).map(({ id }) => id);
    expect(await list({})).to.deep.equal(['job_3', 'job_2', 'job_1']);
    expect(await list({ status: 'queued' })).to.deep.equal(['job_3', 'job_1']);
    expect(await list({ limit: 1 })).to.deep.equal(['job_3']);
    expect(await list({ after: await find('job_3') })).to.deep.equal(['job_2', 'job_1']);
  });

  it('report what is still to be done', async () => {
    await create();
    await create({ audioSeconds: 30 });
    const { lease } = await take();
    await ledger.jobs.renew([{ lease, doneSeconds: 60 }], 1000);
    const accountId = ann.account.id;
    expect(await ledger.jobs.open()).to.deep.equal([
      { id: 'job_1', accountId, audioSeconds: 90.5, doneSeconds: 60 },
      { id: 'job_2', accountId, audioSeconds: 30, doneSeconds: 0 },
    ]);
    await ledger.jobs.end(accountId, 'job_2', 'cancel');
    expect(await ledger.jobs.knownAmong(['job_1', 'job_2', 'job_9'])).to.deep.equal([
      { id: 'job_1', ended: false },
      { id: 'job_2', ended: true },
    ]);
  });

  it('are deleted when they ended long ago, but not before their events are delivered', async () => {
    await create({ webhook: { url: 'https://example.com/', secret: 'whsec_AAAA' } });
    await create();
    await create();
    for (const id of ['job_1', 'job_2']) await ledger.jobs.end(ann.account.id, id, 'cancel');
    bench.now += HOUR_MS - 1;
    await ledger.jobs.deleteEnded(HOUR_MS);
    expect(await ledger.jobs.find(ann.account.id, 'job_2')).not.to.equal(null);
    bench.now += 1;
    expect(await ledger.jobs.deleteEnded(HOUR_MS)).to.equal(false);
    expect(await ledger.jobs.find(ann.account.id, 'job_2')).to.equal(null);
    expect((await find('job_3')).status, 'has not ended').to.equal('queued');
    expect((await find('job_1')).status, 'is still to be reported').to.equal('cancelled');
    const { lease } = (await ledger.webhooks.take(TERMS))!;
    await ledger.webhooks.delivered(lease);
    await ledger.jobs.deleteEnded(HOUR_MS);
    expect(await ledger.jobs.find(ann.account.id, 'job_1')).to.equal(null);
    expect(await ledger.webhooks.list({ state: null, limit: 10 })).to.deep.equal([]);
  });
});
