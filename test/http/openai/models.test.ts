/** The models of OpenAI's endpoints: which there are, and which one a name means. */
import { expect } from 'chai';
import { EventReader } from '../../support/event-reader.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { call, form, type Answer, type CallInit, type Part } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { noMemory, SeveralModels } from '../../support/several-models.js';
import { until } from '../../support/until.js';
import { HEARTBEAT_MS, last, PATH, TRANSLATIONS } from './stream-fixture.js';

const FILE: Part = ['file', fakeAudio(3)];
const VERBOSE: Part = ['response_format', 'verbose_json'];
const STREAM: Part = ['stream', 'true'];

describe("models of OpenAI's endpoints", () => {
  let models: SeveralModels;
  let timers: ManualTimers;
  let server: TestServer;
  let ann: Customer;

  beforeEach(async () => {
    models = new SeveralModels('base', 'small.en', 'whisper-large');
    Object.assign(models.engine('small.en').info, {
      languages: ['en'],
      abilities: { detectsLanguage: false, takesPrompt: false, takesTemperature: false },
    });
    models.engine('whisper-large').info.translatesToEnglish = true;
    models.engine('base').info.isDemonstration = true;
    timers = new ManualTimers();
    server = await TestServer.start({ ...models.options, timers });
    ann = await server.customer(10);
  });
  afterEach('nothing is held or left behind', async () => {
    models.release();
    await until(() => models.held === 0 && server.uploads().length === 0);
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
  });

  const get = (path: string): Promise<Answer> => call(server, path, { headers: bearer(ann.key) });
  const request = (model: string, parts: Part[]): CallInit => ({
    method: 'POST',
    headers: bearer(ann.key),
    body: form([FILE, ['model', model], ...parts]),
  });
  const post = (model: string, parts: Part[] = [], path = PATH): Promise<Answer> =>
    call(server, path, request(model, parts));
  const errorOf = ({ body }: Answer): Record<string, unknown> => body['error'] as Record<string, unknown>;

  it('are listed, the default first, with what they can do and whether they are loaded', async () => {
    const shared = { object: 'model', owned_by: 'verbatim' };
    const able = { detects_language: true, takes_prompt: true, takes_temperature: true };
    const unable = { detects_language: false, takes_prompt: false, takes_temperature: false };
    const languages = ['de', 'en', 'es', 'fr'];
    const base = {
      ...{ id: 'base', ...shared, created: Date.UTC(2026, 0, 15, 12) / 1000, loaded: true, languages, ...able },
      ...{ translates_to_english: false, demonstration: true },
    };
    const small = {
      ...{ id: 'small.en', ...shared, created: 0, loaded: false, languages: ['en'], ...unable },
      ...{ translates_to_english: false, demonstration: false },
    };
    const large = {
      ...{ id: 'whisper-large', ...shared, created: 0, loaded: false, languages, ...able },
      ...{ translates_to_english: true, demonstration: false },
    };
    expect((await get('/v1/models')).body).to.deep.equal({ object: 'list', data: [base, small, large] });
    for (const [name, body] of [
      ['base', base],
      ['small.en', small],
      ['whisper-large', large],
      ['whisper-1', base],
      ['gpt-4o-transcribe', base],
    ] as const) {
      expect((await get(`/v1/models/${name}`)).body, name).to.deep.equal(body);
    }
    expect((await get('/v1/models/tiny')).status).to.equal(404);
    await post('whisper-large');
    expect((await get('/v1/models/whisper-large')).body).to.include({ loaded: true, created: base.created });
    expect((await get('/v1/models/small.en')).body).to.include({ loaded: false });
  });

  it('are meant by their names; the default by any name of OpenAI that is not one of theirs', async () => {
    for (const [asked, made] of [
      ['whisper-large', 'whisper-large'],
      ['base', 'base'],
      ['whisper-1', 'base'],
      ['WHISPER-LARGE', 'base'],
      ['gpt-4o-mini-transcribe', 'base'],
    ] as const) {
      for (const parts of [[], [['response_format', 'srt']]] as Part[][]) {
        const { status, headers, text } = await post(asked, parts);
        expect(status, text).to.equal(200);
        expect(headers.get('x-model'), asked).to.equal(made);
      }
    }
    expect(models.loads.map(({ model }) => model)).to.deep.equal(['whisper-large']);
    const charged = await server.ledger.history.charged(ann.account.id, { limit: 3, before: null });
    expect(charged.map(({ model }) => model)).to.deep.equal(['base', 'base', 'base']);
  });

  it('are refused under any other name, uncharged, with those that there are', async () => {
    for (const path of [PATH, TRANSLATIONS]) {
      const answer = await post('large-v3', [], path);
      expect(answer.status).to.equal(404);
      expect(errorOf(answer)).to.deep.equal({
        ...{ code: 'model_not_found', param: 'model', type: 'invalid_request_error' },
        message: 'There is no speech model "large-v3"; installed: base, small.en, whisper-large.',
      });
      expect(answer.headers.get('x-should-retry')).to.equal('false');
    }
    expect(await server.balance(ann)).to.equal(10);
  });

  it('are refused where one is gone between the look at its name and its use', async () => {
    await server.dispose();
    models = new SeveralModels('base', 'small.en');
    const { speechModels } = models.options;
    const find = speechModels!.find.bind(speechModels);
    server = await TestServer.start({
      ...{ ...models.options, timers },
      speechModels: {
        ...speechModels!,
        find: (name) => {
          const found = find(name);
          models.uninstall(name);
          return found;
        },
      },
    });
    ann = await server.customer(10);
    const answer = await post('small.en', [['language', 'en']]);
    expect([answer.status, errorOf(answer)['code']]).to.deep.equal([404, 'model_not_found']);
    expect(await server.balance(ann)).to.equal(10);
  });

  it('are not needed for a repeat: a stored answer is sent though its model is removed', async () => {
    const keyed = (model: string, key: string, path = PATH): Promise<Answer> => {
      const headers = { ...bearer(ann.key), 'idempotency-key': key };
      return call(server, path, { ...request(model, [VERBOSE, ['language', 'en']]), headers });
    };
    const first = await keyed('small.en', 'k');
    expect([first.status, first.headers.get('idempotency-replayed')]).to.deep.equal([200, null]);
    models.uninstall('small.en');
    const repeat = await keyed('small.en', 'k');
    expect([repeat.status, repeat.headers.get('idempotency-replayed')]).to.deep.equal([200, 'true']);
    expect(repeat.headers.get('x-model')).to.equal('small.en');
    expect(repeat.body).to.deep.equal(first.body);
    expect((await keyed('base', 'k')).status).to.equal(409);
    for (const path of [PATH, TRANSLATIONS]) expect((await keyed('small.en', 'other', path)).status).to.equal(404);
    expect(await server.balance(ann)).to.equal(9);
  });

  it('are asked for languages that they speak: what another one speaks is detected', async () => {
    const german: Part[] = [VERBOSE, ['language', 'de']];
    const spoken = await post('base', german);
    expect([spoken.body['language'], spoken.headers.get('x-ignored-fields')]).to.deep.equal(['german', null]);
    models.engine('small.en').info.abilities.detectsLanguage = true;
    const detected = await post('small.en', german);
    expect([detected.body['language'], detected.headers.get('x-ignored-fields')]).to.deep.equal([
      ...['english', 'language'],
    ]);
    const prompted = await post('small.en', [['prompt', 'Ada']]);
    expect([prompted.status, errorOf(prompted)['param']]).to.deep.equal([400, 'prompt']);
  });

  it('translate, where they can', async () => {
    const { headers, body } = await post('whisper-large', [], TRANSLATIONS);
    expect([headers.get('x-model'), body['text']]).to.deep.equal(['whisper-large', 'Hello, World.']);
    const spanish: Part = ['file', fakeAudio(3, { language: 'es', text: 'Hola.' })];
    const translated = (model: string): Promise<Answer> =>
      call(server, TRANSLATIONS, {
        ...{ method: 'POST', headers: bearer(ann.key) },
        body: form([spanish, ['model', model]]),
      });
    expect((await translated('whisper-large')).body['text']).to.equal('into English: Hola.');
    const refused = await translated('base');
    expect([refused.status, errorOf(refused)['code']]).to.deep.equal([400, 'unsupported_translation']);
  });

  describe('of answers in events', () => {
    const open = (model: string, parts: Part[] = []): Promise<EventReader> =>
      EventReader.open(server, PATH, request(model, [STREAM, ...parts]));

    it('are in the head and in the last event, of repeats, too', async () => {
      const headers = { ...bearer(ann.key), 'idempotency-key': 'k' };
      for (const replayed of [null, 'true']) {
        const reader = await EventReader.open(server, PATH, { ...request('whisper-large', [STREAM]), headers });
        expect(reader.response.headers.get('idempotency-replayed')).to.equal(replayed);
        expect(reader.response.headers.get('x-model')).to.equal('whisper-large');
        expect(last(await reader.rest()).data).to.include({ model: 'whisper-large', text: 'Hello, World.' });
      }
      expect((await open('whisper-1')).response.headers.get('x-model')).to.equal('base');
    });

    it('are in the head that a heartbeat sends while one is loaded', async () => {
      models.holdLoads();
      const opening = open('whisper-large');
      await until(() => models.loads.length === 1);
      timers.pass(HEARTBEAT_MS);
      const reader = await opening;
      expect(reader.response.headers.get('x-model')).to.equal('whisper-large');
      models.release();
      expect(last(await reader.rest()).data).to.include({ model: 'whisper-large', text: 'Hello, World.' });
    });

    it('are refused before any event where they cannot be loaded, uncharged', async () => {
      models.failWith = noMemory(7);
      const answer = await post('whisper-large', [STREAM]);
      expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([503, '7']);
      expect(answer.headers.get('content-type')).to.contain('application/json');
      expect(errorOf(answer)).to.include({ code: 'overloaded', type: 'server_error' });
      expect(answer.headers.get('x-should-retry')).to.equal(null);
      expect((await post('tiny', [STREAM])).status).to.equal(404);
      expect(await server.balance(ann)).to.equal(10);
    });

    it('are refused by the last event where a heartbeat came first', async () => {
      models.holdLoads();
      models.failWith = noMemory(7);
      const opening = open('whisper-large');
      await until(() => models.loads.length === 1);
      timers.pass(HEARTBEAT_MS);
      const reader = await opening;
      models.release();
      const events = (await reader.rest()).filter(({ event }) => event !== null);
      expect(events.map(({ event }) => event)).to.deep.equal(['error']);
      expect(last(events).data['error']).to.include({ code: 'overloaded' });
      expect(await server.balance(ann)).to.equal(10);
    });
  });
});
