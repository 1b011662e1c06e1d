/** Transcripts that are paid for and cannot be kept: the answer is whole, and says so. And the client's own calls. */
import { expect } from 'chai';
import { fakeAudio } from '../../support/fake-engine.js';
import { endedJob, postJob } from '../../support/jobs.js';
import { keptId, library } from '../../support/kept.js';
import { transcribe, type Answer, type Part } from '../../support/requests.js';
import { TestServer, type Customer } from '../../support/server.js';

const AUDIO: Part = ['audio', fakeAudio(3)];
const KEEP: Part = ['keep', 'true'];
const codesOf = ({ body }: Pick<Answer, 'body'>): string[] =>
  ((body['warnings'] ?? []) as { code: string }[]).map(({ code }) => code);

describe('transcripts that cannot be kept', () => {
  let server: TestServer;
  let customer: Customer;
  const start = async (maxLibraryBytes: number): Promise<void> => {
    server = await TestServer.start({ settings: { maxLibraryBytes } });
    customer = await server.customer();
  };
  const decideAudio = (): Promise<unknown> =>
    server.ledger.transcripts.decide(customer.account.id, { isOn: true, keepDays: null, keepsAudio: true });
  afterEach(async () => {
    expect(server.uploads()).to.deep.equal([]);
    expect(server.recordings()).to.deep.equal([]);
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
  });

  it('for want of room: the answer is sent and charged with a warning, in a repeat as well, and as a file', async () => {
    await start(0);
    await decideAudio();
    const headers = { 'idempotency-key': 'full' };
    const send = (): Promise<Answer> => transcribe(server, { key: customer.key, parts: [AUDIO, KEEP], headers });
    const first = await send();
    expect(first.body).to.include({ text: 'Hello, World.', credits_used: 1 });
    expect(codesOf(first)).to.deep.equal(['not_kept']);
    expect(codesOf(await send())).to.deep.equal(['not_kept']);
    const file = await transcribe(server, { key: customer.key, parts: [AUDIO, KEEP, ['format', 'srt']] });
    expect(file.headers.get('x-verbatim-warning')).to.equal('not_kept');
    const { body } = await postJob(server, customer.key, [AUDIO, KEEP]);
    const job = await endedJob(server, customer.key, String(body['id']));
    expect(codesOf({ body: job['result'] as Record<string, unknown> })).to.deep.equal(['not_kept']);
    expect((await library(server, customer.key)).body['transcripts']).to.deep.equal([]);
    expect(await server.balance(customer)).to.equal(97);
  });

  it('by a failure behind the charge: the answer is sent all the same, and the log has the failure', async () => {
    await start(1 << 20);
    await decideAudio();
    server.ledger.transcripts.keep = () => Promise.reject(new Error('the disk is full'));
    const answer = await transcribe(server, { key: customer.key, parts: [AUDIO] });
    expect(answer.status).to.equal(200);
    expect(codesOf(answer)).to.deep.equal(['not_kept']);
    expect(await server.balance(customer)).to.equal(99);
    expect(JSON.stringify(server.logs)).to.contain('the disk is full');
  });

  it('are none of those that failed: nothing is kept that was not charged', async () => {
    await start(1 << 20);
    await decideAudio();
    const broken = await transcribe(server, { key: customer.key, parts: [['audio', Buffer.from('broken\n')], KEEP] });
    expect(broken.status).to.equal(422);
    expect((await library(server, customer.key)).body['transcripts']).to.deep.equal([]);
  });

  it("are others than those that the client's own calls find, change, share and delete", async () => {
    await start(1 << 20);
    const id = await keptId(server, customer.key);
    const { transcripts } = server.client(customer.key);
    expect((await transcripts.list({ query: 'hello' })).transcripts.map((one) => one.id)).to.deep.equal([id]);
    const changed = await transcripts.update(id, { version: 1, segments: [{ index: 0, text: 'Hello, you.' }] });
    expect(changed).to.include({ version: 2, text: 'Hello, you.' });
    expect(await transcripts.export(id, 'txt')).to.equal('Hello, you.\n');
    const share = await transcripts.share(id, { expiresAt: new Date(Date.now() + 86_400_000) });
    expect((await transcripts.shares(id)).shares.map((one) => one.id)).to.deep.equal([share.id]);
    expect(await transcripts.revokeShare(id, share.id)).to.include({ id: share.id });
    expect(await transcripts.delete(id)).to.include({ id });
    expect((await transcripts.list()).transcripts).to.deep.equal([]);
  });
});
