/** translate_to over real HTTP with the bundled translation model: answers, money, refusals, and ends in the middle. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../src/package-root.js';
import { installedTranslationModels } from '../../../src/service/translation-engine.js';
import { readConfig } from '../../../src/service/config.js';
import { loadBinding } from '../../../src/engine/binding.js';
import { TranslationEngine } from '../../../src/engine/translation/translation-engine.js';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { readManifest } from '../../../src/models/read-manifest.js';
import { EndlessTranslation } from '../../support/endless-translation.js';
import { fakeAudio, type FakeEngine } from '../../support/fake-engine.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { call, transcribe, type Answer, type Part } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

const settings = { creditsPerMinute: 2, translationCreditsPerMinute: 3 };

function bundledTranslator(binding = new EndlessTranslation(loadBinding())): TranslationEngine {
  const { modelsDir } = readConfig({}, packageRoot);
  const models = installedTranslationModels({ packageRoot, modelsDir }, readManifest(packageRoot, modelsDir));
  return new TranslationEngine({
    binding,
    models: models.filter(({ bundled }) => bundled === true),
    device: 'cpu',
    backend: 'auto',
    translators: 2,
    threads: 1,
  });
}

const translateMs = ({ headers }: Answer): number =>
  Number(/translate;dur=([\d.]+)$/.exec(headers.get('server-timing') ?? '')?.[1]);

describe('translate_to', () => {
  let binding: EndlessTranslation;
  let translator: TranslationEngine;
  let server: TestServer;
  let engine: FakeEngine;
  let customer: Customer;

  before(async () => {
    binding = new EndlessTranslation(loadBinding());
    translator = bundledTranslator(binding);
    // No time passes: a revocation is notified, not polled for.
    server = await TestServer.start({ translator, settings, timers: new ManualTimers() });
    engine = server.engine;
    engine.info.languages = ['de', 'en', 'es', 'fr', 'it'];
  });
  after(async () => {
    await server.dispose();
    await translator.close();
  });
  beforeEach(async () => {
    customer = await server.customer(100);
    engine.transcribed = 0;
    engine.info.translatesToEnglish = false;
  });
  afterEach(async () => {
    expect(await server.ledger.audit()).to.deep.equal([]);
    expect(server.uploads()).to.deep.equal([]);
    expect(engine).to.include({ openFiles: 0, admitted: 0, running: 0 });
  });

  const send = (
    speech: { language: string; text: string },
    fields: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<Answer> => {
    const parts: Part[] = [['audio', fakeAudio(61, speech)], ...Object.entries(fields)];
    return transcribe(server, { key: customer.key, parts, ...(signal ? { signal } : {}) });
  };
  const english = { language: 'en', text: 'Good morning. How are you?' };
  const italian = { language: 'it', text: 'Buongiorno.' };

  const targets: [string, RegExp][] = [
    ['es', /buenos días/i],
    ['de', /guten morgen/i],
    ['fr', /bonjour/i],
  ];
  for (const [to, expected] of targets) {
    it(`English into ${to}`, async () => {
      const answer = await send(english, { translate_to: to });
      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.include({ language: 'en', text: english.text, credits_used: 10 });
      const translation = answer.body['translation'] as { language: string; text: string };
      expect(translation.language).to.equal(to);
      expect(translation.text).to.match(expected);
      expect(translateMs(answer)).to.be.above(0);
    });
  }

  it('leaves out the marks of both texts with punctuate=false', async () => {
    const { body } = await send(english, { translate_to: 'de', punctuate: 'false' });
    expect(body['text']).to.equal('good morning how are you');
    expect((body['translation'] as { text: string }).text).to.match(/^guten morgen [a-zäöüß ]+$/);
  });

  it('is no translation of silence: no model runs, no surcharge', async () => {
    const answer = await send({ language: 'en', text: '' }, { translate_to: 'de' });
    expect(answer.body).to.deep.include({ translation: { language: 'de', text: '' }, credits_used: 4 });
    expect(translateMs(answer)).to.equal(0);
  });

  describe('a pair that nothing covers is 422 and costs nothing', () => {
    const expectRefused = async ({ status, error }: Answer): Promise<void> => {
      expect({ status, code: error?.code, param: error?.param }).to.deep.equal({
        status: 422,
        code: 'unsupported_translation',
        param: 'translate_to',
      });
      expect(await server.balance(customer)).to.equal(100);
    };

    it('before anything is transcribed when the language was given', async () => {
      await expectRefused(await send(english, { translate_to: 'ja', language: 'en' }));
      await expectRefused(await send(italian, { translate_to: 'es', language: 'it' }));
      await expectRefused(await send(english, { translate_to: 'ja' }));
      expect(engine.transcribed).to.equal(0);
    });

    it('before the charge when the language was detected', async () => {
      await expectRefused(await send(italian, { translate_to: 'es' }));
      expect(engine.transcribed).to.equal(1);
    });
  });

  it('comes from the speech model where it can and no text model covers the pair', async () => {
    engine.info.translatesToEnglish = true;
    const answer = await send(italian, { translate_to: 'en' });
    expect(answer.body['translation']).to.deep.equal({ language: 'en', text: 'into English: Buongiorno.' });
    expect(answer.body['credits_used']).to.equal(10);
    expect(engine.transcribed).to.equal(2);
    const { body } = await send({ language: 'de', text: 'Guten Morgen.' }, { translate_to: 'en' });
    expect((body['translation'] as { text: string }).text).to.match(/good morning/i);
    expect((await send(italian, { translate_to: 'de' })).status).to.equal(422);
  });

  describe('in the middle of a translation', () => {
    beforeEach(() => {
      binding.endless = true;
      binding.rounds = 0;
    });
    afterEach(() => {
      binding.endless = false;
    });

    const translating = (): Promise<void> => until(() => binding.rounds > 0);

    it('a revoked key ends the request, uncharged, and the next one is served', async () => {
      const request = send(english, { translate_to: 'de' });
      await translating();
      const revocation = { method: 'DELETE', headers: bearer(customer.managementKey) };
      expect((await call(server, `/api/v1/keys/${customer.key.id}`, revocation)).status).to.equal(200);
      const { status, error } = await request;
      expect({ status, code: error?.code }).to.deep.equal({ status: 401, code: 'invalid_api_key' });
      expect(await server.balance(customer)).to.equal(100);
      binding.endless = false;
      customer = await server.customer(100);
      expect((await send(english, { translate_to: 'de' })).status).to.equal(200);
    });

    it('a client that hangs up leaves nothing behind', async () => {
      const controller = new AbortController();
      const request = send(english, { translate_to: 'de' }, controller.signal).catch(() => null);
      await translating();
      controller.abort();
      await request;
      await until(() => engine.openFiles === 0 && engine.admitted === 0 && server.uploads().length === 0);
      expect(await server.balance(customer)).to.equal(100);
    });
  });
});

describe('translate_to, from real speech', () => {
  it('transcribes and translates in one call', async () => {
    const translator = bundledTranslator();
    const server = await TestServer.start<SpeechEngine>({
      engine: await loadRealEngine({ slots: 1 }),
      translator,
      settings,
    });
    const customer = await server.customer(100);
    const bytes = readFileSync(join(packageRoot, 'test', 'fixtures', 'audio', 'samples', 'en-wav16.wav'));
    const parts: Part[] = [
      ['audio', bytes],
      ['translate_to', 'spa'],
    ];
    const answer = await transcribe(server, { key: customer.key, parts });
    expect(answer.body).to.include({ language: 'en', credits_used: 5, credits_remaining: 95 });
    const translation = answer.body['translation'] as { language: string; text: string };
    expect(translation.language).to.equal('es');
    expect(translation.text).to.match(/\p{L}{2}/u);
    expect(translateMs(answer)).to.be.above(0);
    await server.dispose();
    await translator.close();
  });
});
