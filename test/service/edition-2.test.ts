/** What the second edition left on a disk opens and serves: see test/fixtures/edition-2/README.md. */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../src/service/config.js';
import { readTuned, writeTuned, withTuned } from '../../src/service/tuned.js';
import { fakeAudio } from '../support/fake-engine.js';
import { endedJob, jobCall } from '../support/jobs.js';
import { call, transcribe } from '../support/requests.js';
import { bearer, TestServer } from '../support/server.js';

const EDITION = join(__dirname, '..', 'fixtures', 'edition-2');
const DONE = 'job_doneDoneDoneDoneDone22';
const OPEN = 'job_openOpenOpenOpenOpen22';

interface Holder {
  id: string;
  keyId: string;
  rawKey: string;
}

const known = JSON.parse(readFileSync(join(EDITION, 'known.json'), 'utf8')) as {
  writtenAt: string;
  text: string;
  ada: Holder;
  bob: Holder;
  eve: Holder;
  link: string;
};

describe('a database of the second edition', () => {
  let server: TestServer;

  beforeEach(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'verbatim-edition-'));
    for (const name of ['verbatim.db', 'verbatim.db.secret']) copyFileSync(join(EDITION, name), join(directory, name));
    chmodSync(join(directory, 'verbatim.db.secret'), 0o600); // git does not keep it
    mkdirSync(join(directory, 'jobs'));
    writeFileSync(join(directory, 'jobs', OPEN), fakeAudio(90));
    // Within the day that answers are kept.
    server = await TestServer.start({
      directory,
      ledgerOptions: { secret: null, clock: () => Date.parse(known.writtenAt) + 3_600_000 },
    });
  });
  afterEach(async () => {
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
  });

  const me = (key: string) => call(server, '/api/v1/me', { headers: bearer(key) });
  const balance = async ({ rawKey }: Holder): Promise<unknown> =>
    ((await me(rawKey)).body['credits'] as { balance: number }).balance;

  it('knows accounts, keys, roles, a suspension, a sign-in link and what operators did', async () => {
    const { ada, bob, eve } = known;
    expect((await me(ada.rawKey)).body).to.have.nested.property('user.id', ada.id);
    expect((await me(eve.rawKey)).error?.code).to.equal('account_suspended');
    expect(await server.ledger.administration.find(ada.id)).to.include({ role: 'operator' });
    expect((await server.ledger.access.linkOwner(known.link))?.id).to.equal(bob.id);
    const [noted] = await server.ledger.operators.list({ limit: 2, before: null });
    expect(noted).to.include({ operatorId: ada.id, action: 'suspend', subject: eve.id, outcome: null });
    expect(await server.ledger.operators.note({ operatorId: null, action: 'resumed', subject: eve.id })).to.equal(
      String(Number(noted!.id) + 1),
    );
    const grant = { accountId: bob.id, amount: 10, paymentId: 'pay_bob@example.org' };
    expect(await server.ledger.credits.grant(grant)).to.include({ repeated: true });
  });

  it('has its charges, its stored answers and the job that succeeded', async () => {
    const { ada } = known;
    expect(await balance(ada)).to.equal(35);
    const entries = await server.ledger.history.charged(ada.id, { limit: 5, before: null });
    expect(entries.map(({ endpoint, credits, model }) => [endpoint, credits, model])).to.deep.equal([
      ['/api/v1/jobs', 2, null],
      ['/api/v1/transcribe', 3, null],
    ]);
    const ask = (key: string) => ({ accountId: ada.id, key, fingerprint: 'fingerprint' });
    const kept = await server.ledger.idempotency.begin(ask('kept'));
    expect(kept).to.have.nested.property('answer.charge.creditsUsed', 3);
    expect(kept).to.have.nested.property('answer.result.text', known.text);
    const ticket = await server.ledger.idempotency.begin(ask('job'));
    expect(ticket).to.deep.include({ state: 'replay' }).and.have.nested.property('answer.ticket.id', DONE);
    const job = await jobCall(server, ada.rawKey, `/${DONE}`);
    expect(job.body).to.include({ status: 'succeeded', progress: 1, model: null });
    expect(job.body['result']).to.deep.include({ text: known.text, duration_sec: 90, credits_used: 2 });
  });

  it('releases what a killed server held, and ends its job, charged once', async () => {
    const { bob } = known;
    expect(server.ledger.recovery).to.deep.equal({ holds: 1, credits: 5, idempotencyRecords: 0 });
    expect(await endedJob(server, bob.rawKey, OPEN)).to.include({ status: 'succeeded', model: 'fake' });
    expect(await balance(bob)).to.equal(8);
  });

  it('takes new requests', async () => {
    const answer = await transcribe(server, { key: known.ada.rawKey });
    expect(answer.status, answer.text).to.equal(200);
    expect(await balance(known.ada)).to.equal(34);
  });
});

describe('tuned settings of the second edition', () => {
  const path = join(EDITION, 'tuned.json');
  const tuned = readTuned(path)!;
  const config = readConfig({ VERBATIM_DEVICE: 'cpu' }, EDITION);
  const then = {
    modelName: 'verbatim-small',
    devices: ['cpu'],
    decoder: { kind: 'batched' as const, compute: 'auto' as const, windowsInFlight: 4 },
    cores: 2,
    modelSha256: () => Promise.resolve('4171db2d56010a3b129e3727aeae4924a791b33480078b4f1c5590b454bdb51c'),
  };

  it('hold good where they were found', async () => {
    const { config: applied, tuned: note } = await withTuned(config, {}, tuned, then);
    const found = { slots: 2, threads: 1, batch: 8 };
    expect(config).not.to.include(found);
    expect(applied).to.include(found);
    expect(note).to.contain('2 slots x 1 threads, 8 windows in flight');
  });

  it('are refused with another decoder, with the reason', async () => {
    const decoder = { kind: 'whisper.cpp' as const };
    const { config: applied, tuned: note } = await withTuned(config, {}, tuned, { ...then, decoder });
    expect(applied).to.equal(config);
    expect(note).to.contain('is not used: it is for the speech decoder batched auto, not whisper.cpp');
  });

  it('are written as that edition wrote them, which therefore reads ours', () => {
    const ours = join(mkdtempSync(join(tmpdir(), 'verbatim-edition-')), 'tuned.json');
    writeTuned(tuned, ours);
    expect(JSON.parse(readFileSync(ours, 'utf8'))).to.deep.equal(JSON.parse(readFileSync(path, 'utf8')));
  });
});
