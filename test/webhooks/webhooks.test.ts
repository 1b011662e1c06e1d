/** Webhooks for the end of a job: the whole way, with real HTTP at both ends. */
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { webhookPayload } from '../../src/jobs/job-body.js';
import type { StoredJob } from '../../src/ledger/jobs.js';
import { storedResult } from '../../src/transcription/result.js';
import { fakeAudio } from '../support/fake-engine.js';
import { endedJob, jobCall, postJob } from '../support/jobs.js';
import { ManualTimers } from '../support/manual-timers.js';
import { call, type Part } from '../support/requests.js';
import { TestServer, type Customer } from '../support/server.js';
import { until } from '../support/until.js';
import { WebhookListener, type ReceivedMessage } from '../support/webhook-listener.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const MINUTE_MS = 60_000;

describe('webhooks', () => {
  let server: TestServer;
  let listener: WebhookListener;
  let timers: ManualTimers;
  let now: number;
  let ann: Customer;

  beforeEach(async () => {
    timers = new ManualTimers();
    now = Date.now();
    listener = await WebhookListener.start();
    server = await TestServer.start({
      timers,
      ledgerOptions: { clock: () => now },
      settings: { webhookAllow: ['127.0.0.1'] },
    });
    ann = await server.customer(100);
  });
  afterEach(async () => {
    server.engine.release();
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
    await listener.close();
  });

  const post = async (...parts: Part[]): Promise<string> => {
    const hook: Part[] = [
      ['webhook_url', listener.url],
      ['webhook_secret', SECRET],
    ];
    const { body } = await postJob(server, ann.key, [['audio', fakeAudio(3)], ...hook, ...parts]);
    return String(body['id']);
  };
  const received = async (count: number): Promise<ReceivedMessage> => {
    await until(() => listener.received.length >= count);
    return listener.received[count - 1]!;
  };
  const eventOf = (message: ReceivedMessage): Record<string, unknown> =>
    new Webhook(SECRET).verify(message.body, message.headers) as Record<string, unknown>;
  const state = async (): Promise<unknown> => (await server.ledger.webhooks.list({ state: null, limit: 1 }))[0]?.state;
  /**
   * When the last attempt has ended so, and nothing is on its way: an attempt has a lease, which time that passes would
   * end.
   */
  const noted = (problem: string): Promise<void> =>
    until(
      async () => (await server.ledger.webhooks.list({ state: 'pending', limit: 1 }))[0]?.lastProblem === problem,
      problem,
    );
  /** Lets so much time pass that what is due is looked for. */
  const pass = (milliseconds: number): void => {
    now += milliseconds;
    timers.pass(1000);
  };

  it('report success, signed, with the job as it can be fetched', async () => {
    const id = await post();
    const event = eventOf(await received(1));
    const job = await endedJob(server, ann.key, id);
    expect(event).to.deep.equal({ type: 'job.succeeded', timestamp: job['finished_at'], data: job });
    await until(async () => (await state()) === 'delivered');
  });

  it('report failure and cancellation', async () => {
    server.engine.holdAll();
    const id = await post();
    await server.engine.untilRunning(1);
    await jobCall(server, ann.key, `/${id}`, { method: 'DELETE' });
    expect(eventOf(await received(1))).to.deep.include({ type: 'job.cancelled' });
    await until(() => server.engine.running === 0);
    const other = await post();
    await server.engine.untilRunning(1);
    await server.ledger.keys.revoke(ann.account.id, ann.key.id);
    timers.pass(1000);
    const event = eventOf(await received(2));
    expect(event).to.deep.include({ type: 'job.failed' });
    expect(event['data']).to.deep.include({ id: other }).and.to.have.nested.property('error.code', 'invalid_api_key');
  });

  it('are counted: what waits, and how attempts ended', async () => {
    const metrics = async (): Promise<string[]> =>
      (await call(server, '/metrics')).text.split('\n').filter((line) => /^verbatim_webhook/.test(line));
    expect(await metrics()).to.deep.equal(['verbatim_webhooks_waiting 0']);
    listener.respond = (_message, response) => void response.writeHead(503).end();
    await post();
    await noted('It answered 503.');
    expect(await metrics()).to.include.members([
      'verbatim_webhook_attempts_total{outcome="failed"} 1',
      'verbatim_webhooks_waiting 1',
    ]);
    listener.respond = (_message, response) => void response.writeHead(204).end();
    pass(MINUTE_MS);
    await until(async () => (await metrics()).includes('verbatim_webhooks_waiting 0'));
    expect(await metrics()).to.include('verbatim_webhook_attempts_total{outcome="delivered"} 1');
  });

  it('are sent again under the same id until they are taken', async () => {
    const attempts = 4;
    listener.respond = (_message, response) => {
      const count = listener.received.length;
      response.writeHead(count < attempts ? 500 + count : 204).end();
    };
    await post();
    for (let attempt = 1; attempt < attempts; attempt++) {
      await noted(`It answered ${500 + attempt}.`);
      pass(2 * MINUTE_MS);
    }
    await until(async () => (await state()) === 'delivered');
    const [first] = listener.received;
    expect(listener.received).to.have.length(attempts);
    expect(new Set(listener.received.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
    expect(new Set(listener.received.map(({ body }) => body)).size).to.equal(1);
    expect(first?.headers['webhook-id']).to.match(/^msg_/);
  });

  it('leave a long result to be fetched', async () => {
    const job = (text: string): StoredJob => ({
      ...{ id: 'job_1', accountId: 'acc', keyId: 'key', requestId: 'req', status: 'succeeded', options: {} },
      ...{
        audioSeconds: 3,
        fileName: null,
        doneSeconds: 3,
        createdAt: '',
        startedAt: '',
        finishedAt: '',
        error: null,
        webhookUrl: null,
        model: 'base',
      },
      outcome: {
        result: storedResult({
          ...{ id: 'tr_1', durationSeconds: 3, language: 'en', text, segments: null, words: null },
          ...{ described: null, translation: null, warnings: [], model: 'base' },
        }),
        charge: { creditsUsed: 1, creditsRemaining: 1 },
      },
    });
    const reported = async (text: string): Promise<unknown> =>
      (JSON.parse(await webhookPayload(job(text))) as { data: unknown }).data;
    expect(await reported('a')).to.have.nested.property('result.text', 'a');
    const withoutResult = { id: 'job_1', status: 'succeeded', progress: 1, model: 'base' };
    expect(await reported('a'.repeat(262_144))).to.include(withoutResult);
    expect(await reported('a'.repeat(262_144))).not.to.have.property('result');
  });

  it('of one account that hang leave places to another’s', async () => {
    listener.respond = () => undefined;
    for (let n = 0; n < 4; n++) await endedJob(server, ann.key, await post());
    await until(() => listener.received.length === 2);
    const bob = await server.customer();
    const quick = await WebhookListener.start();
    await postJob(server, bob.key, [
      ['audio', fakeAudio(3)],
      ['webhook_url', quick.url],
    ]);
    await until(() => quick.received.length === 1);
    expect(listener.received).to.have.length(2);
    await quick.close();
  });

  it('are of jobs alone that name a URL', async () => {
    const { body } = await postJob(server, ann.key);
    await endedJob(server, ann.key, String(body['id']));
    expect(await state()).to.equal(undefined);
  });
});
