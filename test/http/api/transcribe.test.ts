import fs from 'node:fs';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { fakeAudio } from '../../support/fake-engine.js';
import { fakeTranslator } from '../../support/fake-translator.js';
import { call, RawClient, sendFile, transcribe, type Part } from '../../support/requests.js';
import { TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

/** Real enough to see what it is given: marks every word with the target language. */
const translator = fakeTranslator(
  (text, { to }) => `${to}: ${text}`,
  (from, to) => from === 'de' && to === 'en',
);

describe('POST /api/v1/transcribe', () => {
  let server: TestServer;
  let customer: Customer;

  before(async () => {
    const settings = { creditsPerMinute: 2, translationCreditsPerMinute: 3 };
    server = await TestServer.start({ translator, settings });
  });
  after(() => server.dispose());
  beforeEach(async () => {
    customer = await server.customer(100);
  });
  afterEach(async () => {
    expect(await server.ledger.audit()).to.deep.equal([]);
    expect(server.uploads()).to.deep.equal([]);
    expect(server.engine).to.include({ openFiles: 0, admitted: 0, running: 0 });
  });

  const send = (parts: Part[], headers: Record<string, string> = {}) =>
    transcribe(server, { key: customer.key, parts, headers });
  const audio = (seconds = 3, options = {}): Part => ['audio', fakeAudio(seconds, options)];

  it('answers with the fields of the contract, in their order', async () => {
    const { status, body, text, headers } = await send([audio(61.23456)]);
    expect(status).to.equal(200);
    expect(Object.keys(body)).to.deep.equal([
      'id',
      'duration_sec',
      'language',
      'text',
      'credits_used',
      'credits_remaining',
    ]);
    expect(body['id']).to.match(/^tr_[A-Za-z0-9_-]{22}$/);
    expect(body).to.include({ duration_sec: 61.235, language: 'en', text: 'Hello, World.' });
    expect(body).to.include({ credits_used: 4, credits_remaining: 96 });
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(headers.get('content-length')).to.equal(String(Buffer.byteLength(text)));
    expect(headers.get('idempotency-replayed')).to.equal(null);
  });

  it('warns when text was left out, in a repeat as well', async () => {
    const headers = { 'idempotency-key': 'unsure' };
    server.engine.unsureWindows = 2;
    const { body, text } = await send([audio(3, { text: ' ' })], headers);
    server.engine.unsureWindows = 0;
    expect(Object.keys(body)).to.deep.equal([
      'id',
      'duration_sec',
      'language',
      'text',
      'warnings',
      'credits_used',
      'credits_remaining',
    ]);
    const [warning] = body['warnings'] as { code: string; message: string }[];
    expect(warning?.code).to.equal('demonstration_model');
    expect(warning?.message).to.match(
      /"fake" is a demonstration model.*models pull" installs a published model that suits the machine\.$/,
    );
    expect((await send([audio(3, { text: ' ' })], headers)).text).to.equal(text);
  });

  it('reports its timings', async () => {
    const { headers } = await send([audio()]);
    expect(headers.get('server-timing')).to.match(
      /^upload;dur=\d+\.\d, queue;dur=1\.0, decode;dur=(?:[2-9]|\d\d+)\.\d, speech;dur=3\.0, translate;dur=0\.0$/,
    );
  });

  for (const [seconds, minutes] of [
    [0.1, 1],
    [60, 1],
    [60.001, 2],
    [120, 2],
    [3599.9, 60],
  ] as const) {
    it(`bills ${seconds} s as ${minutes} started minutes`, async () => {
      const payer = await server.customer(1000);
      const { body } = await transcribe(server, { key: payer.key, parts: [audio(seconds)] });
      expect(body['credits_used']).to.equal(minutes * 2);
      expect(await server.balance(payer)).to.equal(1000 - minutes * 2);
      expect(await server.ledger.history.report(payer.account.id, 1)).to.deep.include({
        totalMinutes: minutes,
        totalCredits: minutes * 2,
        byEndpoint: [{ endpoint: '/api/v1/transcribe', minutes }],
      });
    });
  }

  const fields: Part[] = [
    ['language', 'EN-us'],
    ['punctuate', 'OFF'],
    ['diarize', 'No'],
    ['translate_to', 'eng'],
  ];
  for (let position = 0; position <= fields.length; position++) {
    it(`takes fields in any order: the file after ${position} of them`, async () => {
      const { status, body } = await send([...fields.slice(0, position), audio(), ...fields.slice(position)]);
      expect(status).to.equal(200);
      expect(body).to.deep.include({
        language: 'en',
        text: 'hello world',
        translation: { language: 'en', text: 'hello world' },
      });
    });
  }

  for (const value of ['true', '1', 'yes', 'on', 'TRUE', 'Yes', 'oN']) {
    it(`punctuate=${value}`, async () => {
      expect((await send([audio(), ['punctuate', value]])).body['text']).to.equal('Hello, World.');
    });
  }
  for (const value of ['false', '0', 'no', 'off', 'False', 'NO']) {
    it(`punctuate=${value}`, async () => {
      expect((await send([['punctuate', value], audio()])).body['text']).to.equal('hello world');
    });
  }

  it('takes names and text of any script', async () => {
    const { body } = await send([audio(3, { language: 'de', text: 'Größe „Ärger“ 你好.' })]);
    expect(body).to.include({ language: 'de', text: 'Größe „Ärger“ 你好.' });
  });

  describe('translate_to', () => {
    const german = audio(61, { language: 'de', text: 'Hallo, Welt.' });

    it('translates, for a surcharge per started minute', async () => {
      const { body } = await send([german, ['translate_to', 'en']]);
      expect(Object.keys(body)[4]).to.equal('translation');
      expect(body).to.deep.include({ language: 'de', text: 'Hallo, Welt.', credits_used: 10 });
      expect(body['translation']).to.deep.equal({ language: 'en', text: 'en: Hallo, Welt.' });
      expect(await server.balance(customer)).to.equal(90);
    });

    it('strips the punctuation of both texts', async () => {
      const { body } = await send([german, ['translate_to', 'en'], ['punctuate', 'no']]);
      expect(body).to.deep.include({
        text: 'hallo welt',
        translation: { language: 'en', text: 'en hallo welt' },
      });
    });

    it('returns the text as it is when the spoken language was asked for, without the surcharge', async () => {
      const { body } = await send([german, ['translate_to', 'de']]);
      expect(body).to.deep.include({
        translation: { language: 'de', text: 'Hallo, Welt.' },
        credits_used: 4,
      });
      expect(await server.balance(customer)).to.equal(96);
    });

    it('refuses a pair before anything is transcribed when the language is given', async () => {
      const { transcribed } = server.engine;
      const { status, error } = await send([german, ['language', 'fr'], ['translate_to', 'en']]);
      expect(status).to.equal(422);
      expect(error).to.include({ code: 'unsupported_translation', param: 'translate_to' });
      expect(server.engine.transcribed).to.equal(transcribed);
    });

    it('refuses a pair before the charge when the language was detected', async () => {
      const spanish = audio(3, { language: 'es' });
      const { status, error } = await send([spanish, ['translate_to', 'en']]);
      expect(status).to.equal(422);
      expect(error).to.include({ code: 'unsupported_translation', param: 'translate_to' });
      expect(await server.balance(customer)).to.equal(100);
    });
  });

  describe('Idempotency-Key', () => {
    const headers = { 'idempotency-key': 'a key! ~' };

    it('returns the stored answer and charges nothing', async () => {
      const first = await send([audio(), ['language', 'en']], headers);
      const second = await send([['language', 'ENG'], audio(), ['punctuate', 'yes']], headers);
      expect(first.status).to.equal(200);
      expect(first.headers.get('idempotency-replayed')).to.equal(null);
      expect(second.status).to.equal(200);
      expect(second.text).to.equal(first.text);
      expect(second.headers.get('idempotency-replayed')).to.equal('true');
      expect(second.headers.get('server-timing')).to.match(/^upload;dur=\d+\.\d, queue;dur=0\.0, /);
      expect(await server.balance(customer)).to.equal(98);
      expect((await server.ledger.history.report(customer.account.id, 1)).totalMinutes).to.equal(1);
    });

    it('returns it to another key of the account, and after the last credit is spent', async () => {
      const payer = await server.customer(2);
      const first = await transcribe(server, { key: payer.key, headers });
      expect(first.body['credits_remaining']).to.equal(0);
      const second = await transcribe(server, { key: payer.managementKey, headers });
      expect(second.status).to.equal(200);
      expect(second.text).to.equal(first.text);
    });

    it('is the account’s own', async () => {
      const first = await send([audio()], headers);
      const stranger = await transcribe(server, { key: (await server.customer()).key, headers });
      expect(stranger.body['id']).not.to.equal(first.body['id']);
      expect(stranger.headers.get('idempotency-replayed')).to.equal(null);
    });

    it('is free again after a failure', async () => {
      server.engine.failWith = new Error('a bug');
      expect((await send([audio()], headers)).status).to.equal(500);
      const poor = await server.customer(0);
      expect((await transcribe(server, { key: poor.key, headers })).status).to.equal(402);
      await server.ledger.credits.grant({ accountId: poor.account.id, amount: 2 });
      expect((await transcribe(server, { key: poor.key, headers })).status).to.equal(200);
      const again = await send([audio()], headers);
      expect(again.status).to.equal(200);
      expect(again.headers.get('idempotency-replayed')).to.equal(null);
    });

    it('runs once when two come at the same moment', async () => {
      const { transcribed } = server.engine;
      server.engine.holdAll();
      const both = [send([audio()], headers), send([audio()], headers)];
      const refused = await Promise.race(both);
      expect(refused.error?.code).to.equal('idempotency_conflict');
      server.engine.release();
      const statuses = (await Promise.all(both)).map(({ status }) => status);
      expect(statuses.sort()).to.deep.equal([200, 409]);
      expect(server.engine.transcribed).to.equal(transcribed + 1);
    });
  });

  it('lets 64 requests race for the last 10 credits: 10 get them', async () => {
    const payer = await server.customer(20);
    const racing = Array.from({ length: 64 }, () => transcribe(server, { key: payer.key }));
    const answers = await Promise.all(racing);
    expect(answers.filter(({ status }) => status === 200)).to.have.length(10);
    expect(answers.filter(({ error }) => error?.code === 'insufficient_credits')).to.have.length(54);
    expect(await server.balance(payer)).to.equal(0);
    expect(await server.ledger.history.report(payer.account.id, 1)).to.include({ totalMinutes: 10, totalCredits: 20 });
    await until(() => server.uploads().length === 0);
  });

  describe('100,000,000 bytes', () => {
    const MEGABYTE = 1_000_000;

    it('are streamed to disk, no faster than the disk takes them', async () => {
      const { createWriteStream } = fs;
      let stored = 0;
      let moveOn = (): void => undefined;
      const stalled = new Promise<void>((resolve) => (moveOn = resolve));
      const write = (chunk: Buffer, done: () => void): void => {
        stored += chunk.length;
        void stalled.then(done);
      };
      fs.createWriteStream = ((path: string) => {
        const file = createWriteStream(path);
        return new Writable({
          write: (chunk: Buffer, _encoding, done) => write(chunk, () => file.write(chunk, done)),
          final: (done) => void file.end(done),
        });
      }) as unknown as typeof createWriteStream;
      try {
        const client = await RawClient.open(server);
        const sending = sendFile(client, customer.key, 100 * MEGABYTE);
        await until(() => stored > 0);
        // Turns of the event loop enough to read all of it, if anything did.
        for (let n = 0; n < 200; n++) await call(server, '/healthz');
        expect(client.socket.bytesWritten - client.socket.writableLength).to.be.below(60 * MEGABYTE);
        expect(stored).to.be.below(MEGABYTE);
        moveOn();
        expect(await sending).to.equal(200);
        expect(stored).to.equal(100 * MEGABYTE);
      } finally {
        fs.createWriteStream = createWriteStream;
      }
    });

    it('and not one more', async () => {
      expect(await sendFile(await RawClient.open(server), customer.key, 100 * MEGABYTE + 1)).to.equal(413);
    });
  });
});
