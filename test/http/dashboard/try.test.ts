import { expect } from 'chai';
import { browserOf, buildDashboard, type HttpBrowser } from '../../support/dashboard.js';
import { BROKEN_AUDIO, fakeAudio } from '../../support/fake-engine.js';
import { form, type Part } from '../../support/requests.js';
import { TestServer, type Customer } from '../../support/server.js';

interface TryBody {
  transcription?: Record<string, unknown>;
  files?: Record<string, string>;
  error?: { message: string };
}

const PATH = '/dashboard/try/transcribe';

describe('dashboard: trying it', () => {
  let server: TestServer;
  let ann: Customer;
  let browser: HttpBrowser;

  before(buildDashboard);
  beforeEach(async () => {
    server = await TestServer.start();
    ann = await server.customer(10);
    browser = await browserOf(server, ann.account);
  });
  afterEach(() => server.dispose());

  async function send(
    parts: readonly Part[],
    headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
    of = browser,
  ): Promise<{ status: number; body: TryBody }> {
    const cookie = [...of.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(server.url + PATH, {
      method: 'POST',
      headers: { cookie, ...headers },
      body: form(parts),
    });
    return { status: answer.status, body: (await answer.json()) as TryBody };
  }

  const AUDIO: Part = ['audio', fakeAudio(61, { language: 'es', text: 'Hola, mundo.' })];

  it('answers as the API does, with the files of it, and books it as the API would', async () => {
    const { status, body } = await send([AUDIO, ['language', 'es']]);
    expect(status).to.equal(200);
    expect(body).to.have.keys(['transcription', 'files']);
    expect(body.transcription).to.include({ language: 'es', text: 'Hola, mundo.', credits_used: 2 });
    expect(body.transcription).to.include.keys(['segments', 'words']);
    expect(body.files).to.have.keys(['txt', 'srt', 'vtt']);
    expect(body.files?.['srt']).to.contain('-->').and.to.contain('Hola');
    expect(await server.balance(ann)).to.equal(8);
    const [entry] = await server.ledger.history.charged(ann.account.id, { limit: 1, before: null });
    expect(entry).to.deep.include({ endpoint: PATH, credits: 2, language: 'es' });
    expect(await server.ledger.audit()).to.deep.equal([]);
  });

  it('is booked under a key that is listed, that nobody has, and that can be revoked', async () => {
    await send([AUDIO]);
    await send([AUDIO]);
    const own = async () =>
      (await server.ledger.listKeys(ann.account.id)).filter(({ name }) => name === 'dashboard');
    const [key, ...others] = await own();
    expect(others).to.deep.equal([]);
    expect(key).to.deep.include({ scopes: [], revokedAt: null });
    server.engine.holdAll();
    const running = send([AUDIO]);
    await server.engine.untilRunning(1);
    await browser.post(`/dashboard/keys/${key!.id}/revoke`);
    expect((await running).status).to.equal(401);
    server.engine.release();
    expect((await send([AUDIO])).status).to.equal(200);
    expect(await own()).to.have.length(2);
  });

  it('takes nothing from elsewhere, nor from who is not signed in, and charges nothing', async () => {
    const cross = await send([AUDIO], { 'sec-fetch-site': 'same-site' });
    expect(cross.status).to.equal(403);
    expect(cross.body.error?.message).to.contain('not sent by a page of this server');
    const key = { authorization: `Bearer ${ann.key.rawKey}`, 'sec-fetch-site': 'same-origin', cookie: '' };
    const keyed = await send([AUDIO], key);
    expect(keyed.status).to.equal(403);
    expect(keyed.body.error?.message).to.contain('Sign in again');
    expect(await server.balance(ann)).to.equal(10);
  });

  it('says in JSON what is wrong', async () => {
    for (const [parts, status, message] of [
      [[['audio', Buffer.from('no audio')]], 415, 'Not WAV'],
      [[['audio', BROKEN_AUDIO]], 422, ''],
      [[AUDIO, ['language', 'xx']], 422, 'xx'],
      [[AUDIO, ['format', 'srt']], 400, 'format'],
      [[['audio', fakeAudio(660)]], 402, 'costs'],
      [[], 400, 'audio'],
    ] as [Part[], number, string][]) {
      const answer = await send(parts);
      expect(answer.status, message).to.equal(status);
      expect(answer.body.error?.message).to.contain(message);
    }
    expect(await server.balance(ann)).to.equal(10);
    expect(server.uploads()).to.deep.equal([]);
  });

  it('tells the price before it is spent, and offers what the models can do', async () => {
    const { text, headers } = await browser.get('/dashboard/try');
    expect(text).to.contain('Credits for a started minute of audio: 1.').and.to.contain('You have: 10.');
    expect(text).to.contain('<option value="es">Spanish</option>').and.not.to.contain('name="translate_to"');
    expect(headers.get('permissions-policy')).to.contain('microphone=(self)');
    expect(headers.get('content-security-policy')).to.contain('media-src blob:').and.not.to.contain('unsafe');
  });
});
