/**
 * Languages, translations and the other ways to ask, whatever the family of the speech model: on the real addon behind
 * HTTP.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { browserOf } from '../../support/dashboard.js';
import { EventReader, joinedDeltas } from '../../support/event-reader.js';
import { FakeDiarizer } from '../../support/fake-diarizer.js';
import { fakeTranslator } from '../../support/fake-translator.js';
import { describeEachFamily } from '../../support/families.js';
import { GatedBinding } from '../../support/gated-binding.js';
import { endedJob, postJob } from '../../support/jobs.js';
import { loadConfigured } from '../../support/real-engine.js';
import { call, form, transcribe, type Answer, type Part } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { readSrt } from '../../support/strict-subtitles.js';
import { until } from '../../support/until.js';

const CREDITS = 1000;

describeEachFamily('Languages and ways to ask', ({ environment, spoken }) => {
  const gate = new GatedBinding();
  const recording: Part = ['audio', readFileSync(spoken.path)];
  let pairs: 'all' | 'none';
  let server: TestServer<SpeechEngine>;
  let customer: Customer;

  before(async () => {
    server = await TestServer.start({
      engine: await loadConfigured(environment(), gate.binding),
      translator: fakeTranslator(
        (_, { from, to }) => `[${from} to ${to}]`,
        () => pairs === 'all',
      ),
      diarizer: new FakeDiarizer(),
    });
  });
  after(() => server.dispose());
  beforeEach(async () => {
    pairs = 'all';
    customer = await server.customer(CREDITS);
  });
  afterEach(async () => {
    gate.open();
    expect(await server.ledger.audit()).to.deep.equal([]);
    expect(server.uploads()).to.deep.equal([]);
  });

  const send = (...parts: Part[]): Promise<Answer> => transcribe(server, { key: customer.key, parts });
  const openai = (path: string, ...parts: Part[]): Promise<Answer> => {
    const file: Part = ['file', readFileSync(spoken.path)];
    const body = form([file, ['model', 'whisper-1'], ...parts]);
    return call(server, `/v1/audio/${path}`, { method: 'POST', headers: bearer(customer.key), body });
  };

  it('reports the language where none was given, and translates from it', async () => {
    const { status, body } = await send(recording, ['translate_to', 'de']);
    expect(status).to.equal(200);
    expect(body['language']).to.equal(spoken.language);
    expect(body['text']).to.not.equal('');
    const { language, text } = body['translation'] as { language: string; text: string };
    expect(language).to.equal('de');
    expect(new Set(text.match(/\[.*?\]/g))).to.deep.equal(new Set([`[${spoken.language} to de]`]));
  });

  it('does not translate into the language that was given', async () => {
    const { body } = await send(recording, ['translate_to', spoken.language]);
    expect(body['translation']).to.deep.include({ language: spoken.language, text: body['text'] });
  });

  it('refuses a translation that no model makes, uncharged, before recognition and after', async () => {
    pairs = 'none';
    for (const given of [[], [['language', spoken.language] satisfies Part]]) {
      const { status, error } = await send(recording, ['translate_to', 'de'], ...given);
      expect([status, error?.code]).to.deep.equal([422, 'unsupported_translation']);
    }
    expect(await server.balance(customer)).to.equal(CREDITS);
  });

  it('answers OpenAI’s translations in English by the models of text, or says that none does', async () => {
    const { status, body } = await openai('translations', ['response_format', 'verbose_json']);
    expect(status).to.equal(200);
    expect(body['language']).to.equal('english');
    expect(String(body['text'])).to.contain(`[${spoken.language} to en]`);
    const before = await server.balance(customer);
    pairs = 'none';
    const refused = await openai('translations', ['prompt', '']);
    expect([refused.status, refused.error?.code]).to.deep.equal([400, 'unsupported_translation']);
    expect(await server.balance(customer)).to.equal(before);
  });

  it('answers OpenAI’s transcriptions with the same text, words and all', async () => {
    const plain = await send(recording, ['timestamps', 'word']);
    const { body } = await openai(
      'transcriptions',
      ['response_format', 'verbose_json'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
    );
    expect(body['text']).to.equal(plain.body['text']);
    const spans = (words: unknown): [number, number][] =>
      (words as { start: number; end: number }[]).map(({ start, end }) => [start, end]);
    expect(spans(body['words'])).to.deep.equal(spans(plain.body['words']));
    expect(body['segments']).to.not.be.empty;
  });

  it('reports speakers of words, and names them in subtitles', async () => {
    const asked: Part[] = [recording, ['diarize', 'true'], ['timestamps', 'word']];
    const { status, body } = await send(...asked);
    expect(status).to.equal(200);
    const words = body['words'] as { word: string; speaker: string }[];
    expect(words.map(({ word }) => word).join(' ')).to.equal(body['text']);
    for (const { speaker } of words) expect(speaker).to.match(/^S[12]$/);
    const { text } = await send(recording, ['diarize', 'true'], ['format', 'srt']);
    expect(readSrt(text)).to.not.be.empty;
    expect(text).to.contain('S1');
  });

  it('is tried on the dashboard’s page, with its text as it becomes final', async () => {
    const { body } = await send(recording);
    const browser = await browserOf(server, customer.account);
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const reader = await EventReader.open(server, '/dashboard/try/transcribe', {
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
      body: form([recording]),
    });
    const events = await reader.rest();
    const { transcription, files } = events.at(-1)!.data as Record<string, Record<string, unknown>>;
    expect(transcription).to.include({ text: body['text'], language: spoken.language });
    expect(transcription?.['words']).to.not.be.empty;
    expect(files).to.have.keys(['txt', 'srt', 'vtt']);
    const deltas = events.filter(({ event }) => event === 'delta').map(({ data }) => String(data['text']));
    expect(deltas.join('')).to.equal(body['text']);
  });

  it('streams, and is done as a job, with the same text', async () => {
    const { body } = await send(recording);
    const reader = await EventReader.open(server, '/v1/audio/transcriptions', {
      headers: bearer(customer.key),
      body: form([
        ['file', readFileSync(spoken.path)],
        ['model', 'whisper-1'],
        ['stream', 'true'],
      ]),
    });
    expect(joinedDeltas(await reader.rest())).to.equal(body['text']);
    const { status, body: job } = await postJob(server, customer.key, [recording]);
    expect(status).to.equal(202);
    const ended = await endedJob(server, customer.key, String(job['id']));
    expect(ended['status']).to.equal('succeeded');
    expect(ended['result']).to.deep.include({ text: body['text'], language: spoken.language });
  });

  it('is aborted by the revocation of its key, uncharged', async () => {
    gate.allow(0);
    const answer = send(recording);
    await until(() => gate.waiting === 1);
    const revoked = await call(server, `/api/v1/keys/${customer.key.id}`, {
      method: 'DELETE',
      headers: bearer(customer.managementKey),
    });
    expect(revoked.status).to.equal(200);
    const { status, error } = await answer;
    expect([status, error?.code]).to.deep.equal([401, 'invalid_api_key']);
    await until(() => gate.signals.at(-1)?.aborted === true);
    gate.open();
    await until(() => server.engine.stats().busySlots === 0);
    expect(await server.balance(customer)).to.equal(CREDITS);
  });
});
