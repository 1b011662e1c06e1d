import { expect } from 'chai';
import { browserOf, buildDashboard, type HttpBrowser } from '../../support/dashboard.js';
import { EventReader, type ReadEvent } from '../../support/event-reader.js';
import { FakeDiarizer } from '../../support/fake-diarizer.js';
import { BROKEN_AUDIO, fakeAudio } from '../../support/fake-engine.js';
import { fakeTranslator } from '../../support/fake-translator.js';
import { form, type Part } from '../../support/requests.js';
import { SeveralModels } from '../../support/several-models.js';
import { TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

interface Done {
  transcription: Record<string, unknown>;
  files: Record<string, string>;
  translated_files?: Record<string, string>;
}

const PATH = '/dashboard/try/transcribe';
const OWN = { 'sec-fetch-site': 'same-origin' };

describe('dashboard: trying it', () => {
  let server: TestServer;
  let ann: Customer;
  let browser: HttpBrowser;
  const diarizer = new FakeDiarizer();

  before(buildDashboard);
  beforeEach(async () => {
    server = await TestServer.start({
      diarizer,
      translator: fakeTranslator((text) => `<${text}>`),
      settings: { translationCreditsPerMinute: 2, diarizationCreditsPerMinute: 3 },
    });
    ann = await server.customer(10);
    browser = await browserOf(server, ann.account);
  });
  afterEach(() => server.dispose());

  const initOf = (parts: readonly Part[], given: Record<string, string>, of: HttpBrowser) => {
    const cookie = [...of.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return { method: 'POST', headers: { cookie, ...given }, body: form(parts) };
  };

  /** Answered before the work begins. */
  async function refused(
    parts: readonly Part[],
    headers: Record<string, string> = OWN,
  ): Promise<{ status: number; message: string }> {
    const answer = await fetch(server.url + PATH, initOf(parts, headers, browser));
    const body = (await answer.json()) as { error: { message: string } };
    return { status: answer.status, message: body.error.message };
  }

  const open = (parts: readonly Part[], signal?: AbortSignal): Promise<EventReader> =>
    EventReader.open(server, PATH, { ...initOf(parts, OWN, browser), ...(signal ? { signal } : {}) });

  async function send(parts: readonly Part[]): Promise<{ events: ReadEvent[]; done: Done }> {
    const events = await (await open(parts)).rest();
    expect(events.at(-1)?.event).to.equal('done');
    return { events, done: events.at(-1)!.data as unknown as Done };
  }

  const AUDIO: Part = ['audio', fakeAudio(61, { language: 'es', text: 'Hola, mundo.' })];

  it('answers as the API does, with the files of it, and charges it as the API would', async () => {
    const { done } = await send([AUDIO, ['language', 'es']]);
    expect(done).to.have.keys(['transcription', 'files']);
    expect(done.transcription).to.include({ language: 'es', text: 'Hola, mundo.', credits_used: 2 });
    expect(done.transcription).to.include.keys(['segments', 'words']);
    expect(done.files).to.have.keys(['txt', 'srt', 'vtt']);
    expect(done.files['srt']).to.contain('-->').and.to.contain('Hola');
    expect(await server.balance(ann)).to.equal(8);
    const [entry] = await server.ledger.history.charged(ann.account.id, { limit: 1, before: null });
    expect(entry).to.deep.include({ endpoint: PATH, credits: 2, language: 'es', model: 'fake' });
    expect(await server.ledger.audit()).to.deep.equal([]);
  });

  it('reports what is held, how far it is, and the text as it becomes final', async () => {
    const { events } = await send([['audio', fakeAudio(90, { text: 'One.|Two.|Three.' })]]);
    const progress = events.filter(({ event }) => event === 'progress').map(({ data }) => data);
    expect(progress).to.deep.equal([0, 30, 60, 90].map((done_seconds) => ({ done_seconds, seconds: 90, credits: 2 })));
    const deltas = events.filter(({ event }) => event === 'delta').map(({ data }) => data['text']);
    expect(deltas).to.deep.equal(['One.', ' Two.', ' Three.']);
  });

  it('has a translation beside the transcript, with files of both, and who speaks, as many as were named', async () => {
    const { done } = await send([
      ['audio', fakeAudio(2, { language: 'es', text: 'Hola, mundo.' })],
      ['translate_to', 'en'],
      ['diarize', 'true'],
      ['num_speakers', '2'],
    ]);
    expect(done.transcription['translation']).to.include({ language: 'en' });
    expect(done.transcription['credits_used']).to.equal(6);
    expect(done.files['txt']).to.contain('Hola').and.not.to.contain('<');
    expect(done.translated_files?.['srt']).to.contain('<');
    const { words } = done.transcription as { words: { speaker: string }[] };
    expect(words.map(({ speaker }) => speaker)).to.deep.equal(['S1', 'S2']);
    expect(diarizer.asked.at(-1)).to.include({ minSpeakers: 2, maxSpeakers: 2 });
  });

  it('is stopped by hanging up: uncharged before any text came, by the started minute after', async () => {
    for (const [windows, left] of [
      [0, 10],
      [1, 8],
    ] as const) {
      server.engine.holdAll(windows);
      const leaving = new AbortController();
      const events = await open([['audio', fakeAudio(180, { text: 'One.|Two.' })]], leaving.signal);
      // What is held, and with text the first window's progress and text.
      for (let n = 0; n <= 2 * windows; n += 1) await events.next();
      leaving.abort();
      await until(() => server.engine.running === 0);
      await until(async () => (await server.ledger.history.running(ann.account.id, 1)).length === 0);
      expect(await server.balance(ann)).to.equal(left);
      server.engine.release();
    }
    await until(() => server.uploads().length === 0);
    expect(await server.ledger.audit()).to.deep.equal([]);
  });

  it('is booked under a key that is listed, that nobody has, and that can be revoked', async () => {
    await send([AUDIO]);
    await send([AUDIO]);
    const own = async () => (await server.ledger.keys.list(ann.account.id)).filter(({ name }) => name === 'dashboard');
    const [key, ...others] = await own();
    expect(others).to.deep.equal([]);
    expect(key).to.deep.include({ scopes: [], revokedAt: null });
    server.engine.holdAll();
    const running = await open([AUDIO]);
    await server.engine.untilRunning(1);
    await browser.post(`/dashboard/keys/${key!.id}/revoke`);
    const last = (await running.rest()).at(-1);
    expect(last).to.deep.include({ event: 'error' });
    expect(last?.data['error']).to.include({ code: 'invalid_api_key' });
    expect(await server.balance(ann)).to.equal(6);
    server.engine.release();
    await send([AUDIO]);
    expect(await own()).to.have.length(2);
  });

  it('takes nothing from elsewhere, nor from who is not signed in, and charges nothing', async () => {
    const cross = await refused([AUDIO], { 'sec-fetch-site': 'same-site' });
    expect(cross.status).to.equal(403);
    expect(cross.message).to.contain('not sent from a page of this server');
    const key = { authorization: `Bearer ${ann.key.rawKey}`, ...OWN, cookie: '' };
    const keyed = await refused([AUDIO], key);
    expect(keyed.status).to.equal(403);
    expect(keyed.message).to.contain('Sign in again');
    expect(await server.balance(ann)).to.equal(10);
  });

  it('says in JSON what is wrong', async () => {
    for (const [parts, status, message] of [
      [[['audio', Buffer.from('no audio')]], 415, 'Not WAV'],
      [[['audio', BROKEN_AUDIO]], 422, ''],
      [[AUDIO, ['language', 'xx']], 422, 'xx'],
      [[AUDIO, ['format', 'srt']], 400, 'format'],
      [[AUDIO, ['num_speakers', '2']], 400, 'diarize'],
      [[['audio', fakeAudio(660)]], 402, 'longer than the 10 min'],
      [[], 400, 'audio'],
    ] as [Part[], number, string][]) {
      const answer = await refused(parts);
      expect(answer.status, message).to.equal(status);
      expect(answer.message).to.contain(message);
    }
    expect(await server.balance(ann)).to.equal(10);
    expect(server.uploads()).to.deep.equal([]);
  });

  it('lets one of the installed models be chosen, where there are several, and refuses others', async () => {
    const models = new SeveralModels('base', 'large-v3');
    const several = await TestServer.start(models.options);
    try {
      const bob = await several.customer(10);
      const page = await (await browserOf(several, bob.account)).get('/dashboard/try');
      expect(page.text).to.match(/<option value="" +selected>base \(default\)</);
      expect(page.text).to.match(/<option value="large-v3" *>large-v3</);
      expect((await browser.get('/dashboard/try')).text).not.to.contain('name="model"');
      const refusal = await refused([AUDIO, ['model', 'tiny']]);
      expect(refusal.status).to.equal(422);
      expect(refusal.message).to.contain('There is no speech model "tiny"');
      const cookies = await browserOf(several, bob.account);
      const events = await EventReader.open(several, PATH, initOf([AUDIO, ['model', 'large-v3']], OWN, cookies));
      expect((await events.rest()).at(-1)?.event).to.equal('done');
      const [entry] = await several.ledger.history.charged(bob.account.id, { limit: 1, before: null });
      expect(entry?.model).to.equal('large-v3');
    } finally {
      models.release();
      await several.dispose();
    }
  });

  it('reports the price before it is spent, and offers what the models can do', async () => {
    const { text, headers } = await browser.get('/dashboard/try');
    expect(text).to.contain('Credits per started minute of audio: 1.').and.to.contain('<span id="balance">10</span>');
    expect(text).to.contain('for translation: 2; for speaker identification: 3');
    expect(text)
      .to.match(/<option value="es" *>Spanish</)
      .and.to.contain('name="translate_to"');
    expect(headers.get('permissions-policy')).to.contain('microphone=(self)');
    expect(headers.get('content-security-policy')).to.contain('media-src blob:').and.not.to.contain('unsafe');
    const plain = await TestServer.start();
    try {
      const bare = await browserOf(plain, (await plain.customer()).account);
      const page = (await bare.get('/dashboard/try')).text;
      expect(page).not.to.contain('name="translate_to"').and.not.to.contain('name="diarize"');
    } finally {
      await plain.dispose();
    }
  });
});
