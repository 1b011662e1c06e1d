/** The client's jobs against the real server. */
import { expect } from 'chai';
import { JobEndedError, VerbatimApiError, type VerbatimClient } from '../../src/client/index.js';
import { fakeAudio } from '../support/fake-engine.js';
import { TestServer, type Customer } from '../support/server.js';

describe('client: jobs', () => {
  let server: TestServer;
  let customer: Customer;
  let client: VerbatimClient;
  const pauses: number[] = [];

  beforeEach(async () => {
    server = await TestServer.start();
    customer = await server.customer(100);
    pauses.length = 0;
    const sleep = async (milliseconds: number): Promise<void> => {
      pauses.push(milliseconds);
      server.engine.release();
      await new Promise((resolve) => setTimeout(resolve, 5));
    };
    client = server.client(customer.key, { sleep });
  });
  afterEach(() => server.dispose());

  const audio = new Blob([fakeAudio(3)]);

  it('makes one, waits for it, and has its result', async () => {
    server.engine.holdAll();
    const { id, status } = await client.jobs.create({ audio, format: 'vtt' });
    expect(status).to.equal('queued');
    const seen: string[] = [];
    const job = await client.jobs.wait(id, { onProgress: ({ status }) => seen.push(status) });
    expect(job.result).to.include({ text: 'Hello, World.', credits_used: 1 });
    expect(job.result?.formatted).to.match(/^WEBVTT/);
    expect(seen.at(-1)).to.equal('succeeded');
    expect(pauses[0]).to.equal(250);
    expect(pauses.every((pause, n) => pause <= 1000 && pause >= (pauses[n - 1] ?? 0))).to.equal(true);
  });

  it('is made once, however often it is sent', async () => {
    const [first, again] = [
      await client.jobs.create({ audio }, { idempotencyKey: 'once' }),
      await client.jobs.create({ audio }, { idempotencyKey: 'once' }),
    ];
    expect(again).to.deep.equal(first);
    expect((await client.jobs.create({ audio })).id).not.to.equal(first.id);
  });

  it('sends where the end is to be reported', async () => {
    const webhookUrl = 'https://example.org/';
    expect(await client.jobs.create({ audio, webhookUrl })).to.have.property('webhook_secret');
    const webhookSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    expect(await client.jobs.create({ audio, webhookUrl, webhookSecret })).not.to.have.property('webhook_secret');
    const error = await client.jobs.create({ audio, webhookSecret }).catch((error: unknown) => error);
    expect(error).to.be.instanceOf(VerbatimApiError).and.include({ param: 'webhook_secret' });
  });

  it('lists, cancels, and reports a job that was', async () => {
    server.engine.holdAll();
    const { id } = await client.jobs.create({ audio });
    const other = await client.jobs.create({ audio });
    expect((await client.jobs.list({ limit: 1 })).jobs.map((job) => job.id)).to.deep.equal([other.id]);
    const { next_cursor: cursor } = await client.jobs.list({ limit: 1 });
    expect((await client.jobs.list({ cursor: cursor! })).jobs.map((job) => job.id)).to.deep.equal([id]);
    expect(await client.jobs.cancel(id)).to.include({ status: 'cancelled' });
    expect((await client.jobs.list({ status: 'cancelled' })).jobs).to.have.length(1);
    expect(await client.jobs.get(id)).to.include({ status: 'cancelled' });
    const error = await client.jobs.wait(id).catch((error: unknown) => error);
    expect(error).to.be.instanceOf(JobEndedError).and.include({ message: 'The job was cancelled.', code: null });
  });

  it('stops waiting when asked to', async () => {
    server.engine.holdAll();
    const { id } = await client.jobs.create({ audio });
    const controller = new AbortController();
    const waiting = client.jobs.wait(id, {
      signal: controller.signal,
      onProgress: () => controller.abort(new Error('enough')),
    });
    expect(await waiting.catch((error: unknown) => error)).to.include({ message: 'enough' });
  });
});
