/** The client against the real server. */
import { once } from 'node:events';
import { truncateSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { expect } from 'chai';
import type { Sleep, VerbatimClient } from '../../src/client/index.js';
import { VerbatimApiError, type ErrorCode, type Transcription } from '../../src/client/index.js';
import { FakeDiarizer } from '../support/fake-diarizer.js';
import { fakeAudio } from '../support/fake-engine.js';
import { fakeTranslator } from '../support/fake-translator.js';
import { TestServer, type Customer } from '../support/server.js';
import { until } from '../support/until.js';

const translator = fakeTranslator(
  (text, { to }) => `${to}: ${text}`,
  (from, to) => from === 'de' && to === 'en',
);

async function rejection(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.fail('resolved'),
    (error: unknown) => error,
  );
}

/** Something that is not the service. */
async function listen(server: Server): Promise<{ url: string; connected: Promise<unknown>; close: () => void }> {
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  const connected = once(server, 'connection');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connected, close };
}

describe('client', () => {
  let server: TestServer;
  let customer: Customer;
  let diarizer: FakeDiarizer;

  beforeEach(async () => {
    diarizer = new FakeDiarizer();
    server = await TestServer.start({ translator, diarizer });
    customer = await server.customer(100);
  });
  afterEach(() => server.dispose());

  const client = (baseUrl = server.url): VerbatimClient => server.client(customer.key, { baseUrl, backoffMs: 10 });

  function audioFile(content: Buffer, bytes = content.length): string {
    const path = join(server.directory, 'größe "1".wav');
    writeFileSync(path, content);
    truncateSync(path, bytes);
    return path;
  }

  it('reports who the key is, its credits and its usage', async () => {
    const { user, key, credits } = await client().me();
    expect(user.email).to.equal(customer.account.email);
    expect(key.id).to.equal(customer.key.id);
    expect(credits).to.deep.equal({ balance: 100, lifetime_purchased: 100 });
    expect((await client().usage()).window_days).to.equal(30);
    expect((await client().usage(7)).by_day).to.have.length(7);
  });

  it('makes, lists and revokes keys', async () => {
    const management = server.client(customer.managementKey);
    const made = await management.createKey('robot');
    expect(await server.client({ rawKey: made.raw_key }).me()).to.have.nested.property('key.name', 'robot');
    const { keys } = await management.listKeys();
    expect(keys[0]).to.include({ id: made.id, name: 'robot', revoked_at: null });
    const { revoked_at: revokedAt } = await management.revokeKey(made.id);
    expect(await management.revokeKey(made.id)).to.deep.equal({ id: made.id, revoked_at: revokedAt });
  });

  it('transcribes a file on disk, with every field', async () => {
    const audio = audioFile(fakeAudio(61, { language: 'de', text: 'Hallo, Welt.' }));
    const plain = await client().transcribe({ audio });
    expect(plain).to.include({ duration_sec: 61, language: 'de', text: 'Hallo, Welt.', credits_used: 2 });
    expect(plain).not.to.have.property('translation');
    const full = await client().transcribe({ audio, language: 'de', translateTo: 'en', punctuate: false });
    expect(full).to.deep.include({
      text: 'hallo welt',
      translation: { language: 'en', text: 'en hallo welt' },
      credits_remaining: 96,
    });
    const { words } = await client().transcribe({ audio, diarize: true, minSpeakers: 1, maxSpeakers: 2 });
    expect(words?.map(({ speaker }) => speaker)).to.deep.equal(['S1', 'S1']);
    expect(diarizer.asked.at(-1)).to.include({ minSpeakers: 1, maxSpeakers: 2 });
    await client().transcribe({ audio, diarize: true, numSpeakers: 3 });
    expect(diarizer.asked.at(-1)).to.include({ minSpeakers: 3, maxSpeakers: 3 });
    const error = await rejection(client().transcribe({ audio, numSpeakers: 3 }));
    expect(error).to.include({ status: 400, code: 'invalid_request', param: 'num_speakers' });
  });

  it('asks for a model by its name', async () => {
    const audio = new Blob([new Uint8Array(fakeAudio(3))]);
    expect(await client().transcribe({ audio, model: 'fake' })).to.include({ text: 'Hello, World.' });
    const refused = await rejection(client().transcribe({ audio, model: 'other' }));
    expect(refused).to.include({ status: 422, code: 'unsupported_model', param: 'model' });
    const { id } = await client().jobs.create({ audio, model: 'fake' });
    expect(await client().jobs.get(id)).to.include({ model: 'fake' });
    for await (const event of client().stream({ audio, model: 'fake' }))
      if (event.type === 'transcript.text.done') expect(event.model).to.equal('fake');
    const unknown = client().stream({ audio, model: 'other' });
    expect(await rejection(unknown.next())).to.include({ status: 404, code: 'model_not_found' });
  });

  it('gives times, and subtitles as a string', async () => {
    const audio = audioFile(fakeAudio(9, { text: 'Hello, World. Good night.' }));
    const { segments, words } = await client().transcribe({ audio, timestamps: 'word' });
    expect(segments?.map(({ text }) => text)).to.deep.equal(['Hello, World.', 'Good night.']);
    expect(words?.[1]).to.include({ word: 'World.', probability: 0.9 });
    const subtitles: string = await client().transcribe({ audio, format: 'vtt' });
    expect(subtitles).to.match(/^WEBVTT\n\n.*-->.*\nHello, World\.\n/);
    expect(await client().transcribe({ audio, format: 'text' })).to.equal('Hello, World. Good night.');
  });

  it('sends the names to expect', async () => {
    await client().transcribe({ audio: audioFile(fakeAudio(3)), prompt: 'Ada Lovelace' });
    expect(server.engine.prompts).to.deep.equal(['Ada Lovelace']);
  });

  it('transcribes bytes', async () => {
    const answer = await client().transcribe({ audio: new Blob([new Uint8Array(fakeAudio(3))]) });
    expect(answer.text).to.equal('Hello, World.');
  });

  it('streams a large file instead of reading it into memory', async () => {
    const audio = audioFile(fakeAudio(3), 100_000_000);
    // Takes what fits into the kernel's buffers and reads nothing.
    const wall = await listen(createServer({ pauseOnConnect: true }));
    const hasty = server.client(customer.key, { baseUrl: wall.url, maxRetries: 0 });
    const running = rejection(hasty.transcribe({ audio }));
    const [socket] = (await wall.connected) as [Socket];
    // A client that has the whole file already would not miss what is gone.
    truncateSync(audio, 50_000_000);
    socket.on('data', () => socket.bytesRead > 100_000_000 && socket.destroy());
    socket.resume();
    expect(await running).to.have.nested.property('cause.name', 'NotReadableError');
    expect(socket.bytesRead).to.be.below(50_000_000);
    wall.close();
    expect((await client().transcribe({ audio })).text).to.equal('Hello, World.');
  });

  it('says that a file is missing before it sends anything', async () => {
    const error = await rejection(client().transcribe({ audio: join(server.directory, 'missing.wav') }));
    expect(error).to.be.instanceOf(Error);
    expect(server.logs).to.have.length(0);
  });

  describe('a stream', () => {
    const audioOf = (text: string): Blob => new Blob([new Uint8Array(fakeAudio(180, { text }))]);

    it('gives the text while it is made, and then the whole', async () => {
      server.engine.holdAll(1);
      const events = client().stream({ audio: audioOf('One.|Two.'), language: 'de', prompt: 'Ada' });
      const delta = { type: 'transcript.text.delta', delta: 'One.' };
      expect((await events.next()).value).to.deep.equal(delta);
      expect(server.engine.running).to.equal(1);
      expect(server.engine.prompts.at(-1)).to.equal('Ada');
      server.engine.release();
      expect((await events.next()).value).to.deep.equal({ ...delta, delta: ' Two.' });
      const { value } = await events.next();
      expect(value).to.include({ type: 'transcript.text.done', text: 'One. Two.', credits_used: 3 });
      expect((await events.next()).done).to.equal(true);
    });

    it('into English, and by speakers', async () => {
      server.engine.info.translatesToEnglish = true;
      const german = new Blob([new Uint8Array(fakeAudio(3, { text: 'Hallo.', language: 'de' }))]);
      const texts: string[] = [];
      for await (const event of client().stream({ audio: german, intoEnglish: true }))
        if (event.type === 'transcript.text.done') texts.push(event.text);
      expect(texts).to.deep.equal(['en: Hallo.']);
      const speakers: string[] = [];
      for await (const event of client().stream({ audio: audioOf('One. Two.'), diarize: true }))
        if (event.type === 'transcript.text.segment') speakers.push(event.speaker);
      expect(speakers).to.include('A');
    });

    it('throws what goes wrong, before and in the middle', async () => {
      const before = client().stream({ audio: new Blob(['no audio']) });
      expect(await rejection(before.next())).to.be.instanceOf(VerbatimApiError);
      server.engine.holdAll(1);
      const events = client().stream({ audio: audioOf('One.|Two.|Three.') });
      await events.next();
      server.engine.failWith = new Error('Out of order.');
      server.engine.release();
      await events.next();
      const error = await rejection(events.next());
      expect(error).to.be.instanceOf(VerbatimApiError);
      expect(error).to.include({ status: 200, code: 'internal_error' });
    });

    it('that is left is charged for what it delivered', async () => {
      server.engine.holdAll(2);
      const before = await server.balance(customer);
      for await (const event of client().stream({ audio: audioOf('One.|Two.|Three.') }))
        if ('delta' in event && event.delta === ' Two.') break;
      await until(() => server.engine.running === 0 && server.uploads().length === 0);
      expect(before - (await server.balance(customer))).to.equal(2);
    });
  });

  describe('errors', () => {
    it('have all that the service says', async () => {
      const error = (await rejection(client().usage(91))) as VerbatimApiError;
      expect(error).to.be.instanceOf(VerbatimApiError);
      expect(error).to.include({
        name: 'VerbatimApiError',
        status: 400,
        code: 'invalid_request',
        param: 'days',
      });
      expect(error.message).to.equal('days must be one integer from 1 to 90.');
      expect(error.requestId).to.equal(server.logs[0]!.requestId);
      expect(error.retryAfterSeconds).to.equal(null);
      expect(server.logs).to.have.length(1);
    });

    it('come from an upload that is refused early', async () => {
      const audio = audioFile(fakeAudio(3), 60_000_000);
      const stranger = server.client({ rawKey: `vb_${'A'.repeat(43)}` });
      expect(await rejection(stranger.transcribe({ audio }))).to.include({ code: 'invalid_api_key' });
      const poor = server.client((await server.customer(0)).key);
      expect(await rejection(poor.transcribe({ audio }))).to.include({ code: 'insufficient_credits' });
    });

    it('are distinguished from answers of a proxy', async () => {
      const gateway = await listen(
        createServer((socket) => {
          socket.end('HTTP/1.1 502 Bad Gateway\r\nX-Request-Id: gw-1\r\nContent-Length: 12\r\n\r\n<h1>Bad</h1>');
        }),
      );
      const error = await rejection(client(gateway.url).me());
      expect(error).to.include({ status: 502, code: 'unknown', param: null, requestId: 'gw-1' });
      gateway.close();
    });

    it('about arguments are not tried again', async () => {
      const audio = new Blob([new Uint8Array(fakeAudio(3))]);
      const slow = server.client(customer.key, { backoffMs: 60_000 });
      expect(await rejection(slow.transcribe({ audio }, { idempotencyKey: 'a\nb' }))).to.be.instanceOf(TypeError);
    });
  });

  describe('a signal', () => {
    it('stops the work on the server', async () => {
      server.engine.holdAll();
      const controller = new AbortController();
      const running = rejection(client().transcribe({ audio: audioFile(fakeAudio(3)) }, { signal: controller.signal }));
      await server.engine.untilRunning(1);
      const reason = new Error('changed my mind');
      controller.abort(reason);
      expect(await running).to.equal(reason);
      await until(() => server.engine.running === 0 && server.uploads().length === 0);
      expect(await server.balance(customer)).to.equal(100);
    });

    it('ends the wait before the next try', async () => {
      server.engine.backlogSeconds = 180_000;
      server.engine.realTimeFactor = 0.001; // asks to wait 36 s
      const controller = new AbortController();
      const { signal } = controller;
      let begin!: () => void;
      const waiting = new Promise<void>((resolve) => (begin = resolve));
      const sleep: Sleep = (milliseconds) => {
        begin();
        return after(milliseconds, undefined, { signal });
      };
      const patient = server.client(customer.key, { sleep });
      const running = rejection(patient.transcribe({ audio: audioFile(fakeAudio(3)) }, { signal }));
      await waiting;
      controller.abort();
      expect(await running).to.equal(signal.reason);
      server.engine.backlogSeconds = 0;
      expect(server.logs).to.have.length(1);
    });
  });

  it('has the types of the document', () => {
    const code: ErrorCode = 'insufficient_credits';
    const text = (answer: Transcription): string => answer.translation?.text ?? answer.text;
    // @ts-expect-error -- no such code
    const wrongCode: ErrorCode = 'no_credits';
    // @ts-expect-error -- no such field
    const wrongField = (answer: Transcription): unknown => answer.transcript;
    expect([code, text, wrongCode, wrongField]).to.have.length(4);
  });
});
