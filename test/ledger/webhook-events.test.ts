/** The outbox: one event a job, sent until it is delivered or a day has passed. */
import { expect } from 'chai';
import type { NewJob, TakenEvent, WebhookEvent } from '../../src/ledger/jobs.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { customer, useLedger, type Bench, type KeyHolder } from './support.js';
import { describeLedger } from './backends.js';

const TERMS = { leaseMs: 60_000, mostPerAccount: 2 };
const DAY_MS = 86_400_000;

describeLedger('Webhook events in the ledger', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: KeyHolder;
  useLedger(100, (fixture) => ({ bench, ledger, ann } = fixture), backend);

  async function ended(id: string, { account, key }: KeyHolder = ann): Promise<void> {
    bench.now += 1;
    const job: NewJob = {
      ...{
        id,
        accountId: account.id,
        keyId: key.id,
        requestId: 'req',
        options: {},
        audioSeconds: 3,
        credits: 1,
      },
      webhook: { url: `https://example.com/${id}`, secret: 'whsec_AAAA' },
      ...{ mostOpen: 100, idempotency: null },
    };
    await ledger.jobs.create(job);
    await ledger.jobs.end(account.id, id, 'cancel');
  }
  const take = async (from = ledger): Promise<TakenEvent> => (await from.webhooks.take(TERMS))!;
  const only = async (): Promise<WebhookEvent> => {
    const [event, ...more] = await ledger.webhooks.list({ state: null, limit: 10 });
    expect(more).to.deep.equal([]);
    return event!;
  };

  it('are made by the end of a job that is to report it, and of no other', async () => {
    await ended('job_1');
    const { lease, job, url, secret } = await take();
    expect(lease.id).to.match(/^msg_/);
    expect(job).to.include({ id: 'job_1', status: 'cancelled' });
    expect({ url, secret }).to.deep.equal({ url: 'https://example.com/job_1', secret: 'whsec_AAAA' });
    expect(await ledger.webhooks.take(TERMS), 'one event, one lease').to.equal(null);
    expect(await ledger.webhooks.delivered(lease)).to.equal(true);
    expect(await only()).to.include({ state: 'delivered', attempts: 1, nextAttemptAt: null });
  });

  it('keep their id over all attempts, and are given up after a day', async () => {
    await ended('job_1');
    const first = await take();
    expect(await ledger.webhooks.failed(first.lease, 'It answered 500.', 5000)).to.equal(true);
    expect(await only()).to.include({ state: 'pending', lastProblem: 'It answered 500.' });
    expect(await ledger.webhooks.take(TERMS)).to.equal(null);
    bench.now += 5000;
    const second = await take();
    expect(second.lease).to.deep.equal({ id: first.lease.id, attempt: 2 });
    await ledger.webhooks.failed(second.lease, 'It answered 500.', DAY_MS);
    expect(await only()).to.include({ state: 'failed', nextAttemptAt: null, attempts: 2 });
  });

  it('are given up at once where no further attempt helps', async () => {
    await ended('job_1');
    await ledger.webhooks.failed((await take()).lease, 'gone', null);
    expect(await only()).to.include({ state: 'failed' });
  });

  it('of a server that died are taken by another, whose word alone counts', async () => {
    await ended('job_1');
    const { lease } = await take();
    const other = await bench.server();
    bench.now += TERMS.leaseMs;
    const again = await take(other);
    expect(again.lease.id).to.equal(lease.id);
    expect(await ledger.webhooks.delivered(lease)).to.equal(false);
    await other.close();
    expect((await take()).lease, 'a server that leaves gives its own back').to.include({ attempt: 3 });
  });

  it('of one account are few at once, whatever waits', async () => {
    const bob = await customer(ledger, 'bob@example.com', 10);
    for (const id of ['job_1', 'job_2', 'job_3']) await ended(id);
    await ended('job_4', bob);
    const jobs: string[] = [];
    for (let event = await ledger.webhooks.take(TERMS); event; event = await ledger.webhooks.take(TERMS)) {
      jobs.push(event.job.id);
    }
    expect(jobs).to.deep.equal(['job_1', 'job_2', 'job_4']);
  });

  it('can be sent once more, with a full day for it', async () => {
    await ended('job_1');
    await ledger.webhooks.failed((await take()).lease, 'gone', null);
    bench.now += 2 * DAY_MS;
    const { id } = await only();
    expect(await ledger.webhooks.retry(id)).to.include({ state: 'pending' });
    await ledger.webhooks.failed((await take()).lease, 'again', DAY_MS - 1);
    expect(await only()).to.include({ state: 'pending' });
    expect(await ledger.webhooks.retry('msg_none')).to.equal(null);
  });

  it('are listed newest first, by state', async () => {
    await ended('job_1');
    await ended('job_2');
    await ledger.webhooks.delivered((await take()).lease);
    const jobs = async (state: 'pending' | 'delivered' | null, limit = 10): Promise<string[]> =>
      (await ledger.webhooks.list({ state, limit })).map(({ jobId }) => jobId);
    expect(await jobs(null)).to.deep.equal(['job_2', 'job_1']);
    expect(await jobs('pending')).to.deep.equal(['job_2']);
    expect(await jobs('delivered')).to.deep.equal(['job_1']);
    expect(await jobs(null, 1)).to.deep.equal(['job_2']);
  });
});
