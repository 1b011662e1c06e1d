/** /jobs over real HTTP, on a real ledger. */
import { expect } from 'chai';
import { BROKEN_AUDIO, fakeAudio } from '../../support/fake-engine.js';
import { endedJob, endsBehindTheNextLook, jobCall, postJob } from '../../support/jobs.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { call, transcribe, type Answer, type Part } from '../../support/requests.js';
import { TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const audio: Part = ['audio', fakeAudio(90)];

describe('/api/v1/jobs', () => {
  let server: TestServer;
  let ann: Customer;

  beforeEach(async () => {
    server = await TestServer.start({ settings: { maxOpenJobs: 3, webhookAllow: ['127.0.0.1'] } });
    ann = await server.customer(10);
  });
  afterEach(async () => {
    server.engine.release();
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
  });

  const post = (parts: Part[] = [audio], headers = {}): Promise<Answer> => postJob(server, ann.key, parts, headers);
  const get = (path: string): Promise<Answer> => jobCall(server, ann.key, path);
  const end = (id: string): Promise<Answer> => jobCall(server, ann.key, `/${id}`, { method: 'DELETE' });
  const created = async (parts?: Part[]): Promise<string> => String((await post(parts)).body['id']);

  it('accepts at once, holds the credits, and has the result of /transcribe later', async () => {
    server.engine.holdAll();
    const { status, headers, body } = await post();
    expect(status).to.equal(202);
    expect(Object.keys(body)).to.deep.equal(['id', 'status', 'created_at']);
    expect(body['status']).to.equal('queued');
    const id = String(body['id']);
    expect(headers.get('location')).to.equal(`/api/v1/jobs/${id}`);
    expect(await server.balance(ann)).to.equal(8);
    await server.engine.untilRunning(1);
    const running = (await get(`/${id}`)).body;
    expect(running).to.include({ id, status: 'running', progress: 0, finished_at: null });
    expect(running['eta_seconds']).to.equal(9);
    expect(server.jobFiles()).to.deep.equal([id]);
    server.engine.release();
    const done = await endedJob(server, ann.key, id);
    expect(done).to.include({ status: 'succeeded', progress: 1, eta_seconds: null });
    expect(done['result']).to.deep.include({ text: 'Hello, World.', credits_used: 2, credits_remaining: 8 });
    expect(done['result']).to.have.property('id').that.matches(/^tr_/);
    expect(await server.balance(ann)).to.equal(8);
    expect(await server.ledger.history.report(ann.account.id, 1)).to.deep.include({
      byEndpoint: [{ endpoint: '/api/v1/jobs', minutes: 2 }],
    });
    await until(() => server.jobFiles().length === 0);
    expect(server.uploads()).to.deep.equal([]);
  });

  it('refuses what /transcribe refuses, and leaves nothing of it', async () => {
    const refusals: [Part[], number, string][] = [
      [[], 400, 'invalid_request'],
      [[audio, ['frobnicate', '1']], 400, 'invalid_request'],
      [[['audio', BROKEN_AUDIO]], 422, 'invalid_audio'],
      [[['audio', Buffer.from('text')]], 415, 'unsupported_audio_format'],
      [[['audio', fakeAudio(20_000)]], 413, 'audio_too_long'],
      [[['audio', fakeAudio(601)]], 402, 'insufficient_credits'],
      [[audio, ['language', 'ja']], 422, 'unsupported_language'],
      [[audio, ['diarize', '1']], 422, 'unsupported_diarization'],
    ];
    for (const [parts, status, code] of refusals) {
      const answer = await post(parts);
      expect([answer.status, answer.error?.code]).to.deep.equal([status, code]);
    }
    expect((await postJob(server, 'vb_none')).status).to.equal(401);
    expect((await get('')).body['jobs']).to.deep.equal([]);
    expect([server.jobFiles(), server.uploads()]).to.deep.equal([[], []]);
    expect(await server.balance(ann)).to.equal(10);
  });

  it('refuses webhooks that it could not send, by field', async () => {
    const url: Part = ['webhook_url', 'https://example.org/'];
    const refusals: [Part[], string][] = [
      [[['webhook_url', 'ftp://example.org/']], 'webhook_url'],
      [[['webhook_url', 'https://user@example.org/']], 'webhook_url'],
      [[['webhook_url', 'https://10.0.0.1/']], 'webhook_url'],
      [[['webhook_url', 'http://[::ffff:169.254.169.254]/']], 'webhook_url'],
      [[['webhook_secret', SECRET]], 'webhook_secret'],
      [[url, ['webhook_secret', 'secret']], 'webhook_secret'],
      [[url, ['webhook_secret', 'whsec_c2hvcnQ=']], 'webhook_secret'],
    ];
    for (const [parts, param] of refusals) {
      const { status, error } = await post([audio, ...parts]);
      expect([status, error?.param], JSON.stringify(parts)).to.deep.equal([400, param]);
    }
    expect((await post([audio, ['webhook_url', 'http://127.0.0.1:9/'], ['webhook_secret', SECRET]])).status).to.equal(
      202,
    );
  });

  it('reports a secret that it made, once; one that was given, never', async () => {
    const url: Part = ['webhook_url', 'http://127.0.0.1:9/'];
    expect((await post([audio, url])).body['webhook_secret']).to.match(/^whsec_.{44}$/);
    expect((await post([audio, url, ['webhook_secret', SECRET]])).body).not.to.have.property('webhook_secret');
  });

  it('renders formats that are no JSON beside the result', async () => {
    const done = await endedJob(server, ann.key, await created([audio, ['format', 'srt']]));
    const direct = await transcribe(server, { key: ann.key, parts: [audio, ['format', 'srt']] });
    expect(done['result']).to.include({ formatted: direct.text, text: 'Hello, World.' });
    expect((await endedJob(server, ann.key, await created()))['result']).not.to.have.property('formatted');
  });

  it('gives a repeat under the same Idempotency-Key the same job, and another request a conflict', async () => {
    const key = { 'idempotency-key': 'once' };
    const [first, again] = [await post([audio], key), await post([audio], key)];
    expect(again.body).to.deep.equal(first.body);
    expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).to.deep.equal([null, 'true']);
    expect((await get('')).body['jobs']).to.have.length(1);
    const hook: Part = ['webhook_url', 'http://127.0.0.1:9/'];
    expect((await post([audio, hook], key)).error?.code).to.equal('idempotency_conflict');
    const direct = await transcribe(server, { key: ann.key, parts: [audio], headers: key });
    expect(direct.error?.code).to.equal('idempotency_conflict');
    await endedJob(server, ann.key, String(first.body['id']));
    expect((await end(String(first.body['id']))).status).to.equal(200);
    expect((await post([audio], key)).body, 'though the job is deleted').to.deep.equal(first.body);
    expect(server.jobFiles()).to.deep.equal([]);
  });

  it('may be repeated under the same Idempotency-Key after a refusal', async () => {
    const key = { 'idempotency-key': 'once' };
    expect((await post([['audio', fakeAudio(601)]], key)).status).to.equal(402);
    expect((await post([audio], key)).status).to.equal(202);
  });

  it('reports its failure, and costs nothing', async () => {
    server.engine.holdAll();
    const id = await created();
    await server.engine.untilRunning(1);
    await server.ledger.keys.revoke(ann.account.id, ann.key.id);
    const done = await endedJob(server, ann.managementKey, id);
    expect(done).to.deep.include({
      status: 'failed',
      error: {
        code: 'invalid_api_key',
        message: 'The API key was revoked, or its account suspended, before the job was done.',
        param: null,
      },
    });
    expect(done).not.to.have.property('result');
    expect(await server.balance(ann)).to.equal(10);
  });

  it('is cancelled at once, while it runs and while it waits, and deleted when it has ended', async () => {
    server.engine.holdAll();
    const id = await created();
    await server.engine.untilRunning(1);
    expect((await end(id)).body).to.include({ id, status: 'cancelled', eta_seconds: null });
    await until(() => server.engine.running === 0);
    expect(await server.balance(ann)).to.equal(10);
    expect(server.jobFiles()).to.deep.equal([]);
    expect((await get(`/${id}`)).body).to.include({ status: 'cancelled' });
    expect((await end(id)).body).to.include({ status: 'cancelled' });
    expect((await get(`/${id}`)).error?.code).to.equal('job_not_found');
    expect((await end(id)).status).to.equal(404);
  });

  it('that ends while it is being cancelled keeps its result', async () => {
    server.engine.holdAll();
    const id = await created();
    await endsBehindTheNextLook(server, id);
    const late = await end(id);
    expect([late.status, late.body['status']]).to.deep.equal([200, 'succeeded']);
    expect((await jobCall(server, ann.key, `/${id}`)).body).to.have.nested.property('result.text');
    expect((await end(id)).body['status']).to.equal('succeeded');
    expect((await jobCall(server, ann.key, `/${id}`)).status).to.equal(404);
  });

  it('is another account’s secret', async () => {
    const bob = await server.customer();
    const id = await created();
    for (const init of [{}, { method: 'DELETE' }]) {
      const answer = await jobCall(server, bob.key, `/${id}`, init);
      expect([answer.status, answer.error?.code]).to.deep.equal([404, 'job_not_found']);
    }
    expect((await jobCall(server, bob.key)).body['jobs']).to.deep.equal([]);
    expect((await endedJob(server, ann.key, id))['status']).to.equal('succeeded');
  });

  it('is refused beyond the limit of jobs that have not ended, before its body is read', async () => {
    server.engine.holdAll();
    for (let n = 0; n < 3; n++) expect((await post([['audio', fakeAudio(3)]])).status).to.equal(202);
    const { status, headers, error } = await post();
    expect([status, error?.code]).to.deep.equal([429, 'rate_limited']);
    expect(error?.message).to.equal('The account has 3 jobs that have not ended; its limit is 3.');
    expect(Number(headers.get('retry-after'))).to.be.at.least(1);
    const bob = await server.customer();
    expect((await postJob(server, bob.key)).status).to.equal(202);
    server.engine.release();
    await until(async () => (await post()).status === 202);
  });

  it('takes no room from requests, and goes beside them when the backlog is full', async () => {
    server.engine.holdAll();
    server.engine.backlogSeconds = 150_000;
    await created();
    await server.engine.untilRunning(1);
    expect((await transcribe(server, { key: ann.key, parts: [audio] })).status, 'the backlog is full').to.equal(503);
    server.engine.backlogSeconds = 0;
    const direct = transcribe(server, { key: ann.key });
    await server.engine.untilRunning(2);
    expect(server.engine.backlogSeconds, 'of the request alone').to.equal(3);
    server.engine.release();
    expect((await direct).status).to.equal(200);
  });

  it('is counted: open ones by their status, ended ones by how they ended', async () => {
    const metrics = async (): Promise<string[]> =>
      (await call(server, '/metrics')).text.split('\n').filter((line) => /^verbatim_jobs_/.test(line));
    expect(await metrics()).to.deep.equal([
      'verbatim_jobs_open{status="queued"} 0',
      'verbatim_jobs_open{status="running"} 0',
    ]);
    server.engine.holdAll();
    const [first] = [await created([['audio', fakeAudio(3)]]), await created([['audio', fakeAudio(3)]])];
    await server.engine.untilRunning(2);
    expect(await metrics()).to.include('verbatim_jobs_open{status="running"} 2');
    // Cancelled, then deleted: it has ended once.
    await end(first);
    await end(first);
    server.engine.release();
    await until(async () => (await metrics()).includes('verbatim_jobs_ended_total{status="succeeded"} 1'));
    expect(await metrics()).to.have.members([
      'verbatim_jobs_open{status="queued"} 0',
      'verbatim_jobs_open{status="running"} 0',
      'verbatim_jobs_ended_total{status="cancelled"} 1',
      'verbatim_jobs_ended_total{status="succeeded"} 1',
    ]);
  });

  it('is listed page by page, by status, without results', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      ids.unshift(await created([['audio', fakeAudio(3)]]));
      await endedJob(server, ann.key, ids[0]!);
    }
    type Page = { jobs: { id: string }[]; next_cursor: string | null };
    const page = async (query: string): Promise<Page> => (await get(query)).body as Page;
    const all = await page('');
    expect(all.jobs.map(({ id }) => id)).to.deep.equal(ids);
    expect(all.jobs[0]).not.to.have.property('result');
    expect(all.next_cursor).to.equal(null);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { jobs, next_cursor } = await page(`?limit=2${cursor && `&cursor=${cursor}`}`);
      expect(jobs).to.have.length.within(1, 2);
      seen.push(...jobs.map(({ id }) => id));
      cursor = next_cursor;
    }
    expect(seen).to.deep.equal(ids);
    expect((await page('?status=failed')).jobs).to.deep.equal([]);
    expect((await page('?status=succeeded')).jobs).to.have.length(3);
    for (const bad of [
      'status=done',
      'limit=0',
      'limit=101',
      'cursor=abc',
      'cursor=%2F',
      'status=failed&status=failed',
    ]) {
      const { status, error } = await get(`?${bad}`);
      expect([status, error?.param], bad).to.deep.equal([400, bad.split('=')[0]]);
    }
  });

  it('says when it will be done from what stands before it and the measured speed', async () => {
    server.engine.holdAll();
    const first = await created([['audio', fakeAudio(100)]]);
    const second = await created([['audio', fakeAudio(50)]]);
    const bob = await server.customer();
    await postJob(server, bob.key, [['audio', fakeAudio(120)]]);
    server.engine.backlogSeconds = 10;
    const eta = async (id: string): Promise<unknown> => (await get(`/${id}`)).body['eta_seconds'];
    // Each other account gets as much as this one's jobs up to there, or all that it has.
    expect([await eta(first), await eta(second)]).to.deep.equal([21, 28]);
  });
});

describe('/api/v1/jobs when time passes', () => {
  it('removes jobs after their retention, and audio that no job needs', async () => {
    const timers = new ManualTimers();
    let now = Date.now();
    const server = await TestServer.start({
      timers,
      ledgerOptions: { clock: () => now },
      settings: { jobRetentionHours: 2 },
    });
    try {
      const ann = await server.customer();
      const { body } = await postJob(server, ann.key);
      const id = String(body['id']);
      await endedJob(server, ann.key, id);
      now += 2 * 3_600_000 - 60_000;
      timers.pass(600_000);
      expect((await jobCall(server, ann.key, `/${id}`)).status).to.equal(200);
      now += 60_000;
      timers.pass(600_000);
      await until(async () => (await jobCall(server, ann.key, `/${id}`)).status === 404);
    } finally {
      await server.dispose();
    }
  });
});
