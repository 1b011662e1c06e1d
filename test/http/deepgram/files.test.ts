/** POST /v1/listen: Deepgram's batch protocol, with the file as the body. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { FakeDiarizer } from '../../support/fake-diarizer.js';
import { BROKEN_AUDIO, fakeAudio, fakeRecording } from '../../support/fake-engine.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { call, RawClient, type Answer } from '../../support/requests.js';
import { TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

interface Word {
  word: string;
  start: number;
  end: number;
  confidence: number;
  punctuated_word?: string;
  speaker?: number;
  language?: string;
}

interface Body {
  metadata: { request_id: string; sha256: string; created: string; duration: number } & Record<string, unknown>;
  results: {
    channels: {
      detected_language?: string;
      alternatives: {
        transcript: string;
        confidence: number;
        words: Word[];
        languages?: string[];
        paragraphs?: { transcript: string; paragraphs: { sentences: { text: string }[]; speaker?: number }[] };
      }[];
    }[];
    utterances?: { transcript: string; words: Word[]; start: number; end: number; speaker?: number; id: string }[];
  };
}

/** Values that are refused by name. */
const REFUSED: Record<string, readonly string[]> = {
  model: ['none-such'],
  language: ['klingon', 'ja'],
  punctuate: ['yes'],
  smart_format: ['1'],
  diarize: ['yes', 'true'],
  detect_language: ['en'],
  utterances: ['yes'],
  paragraphs: ['yes'],
  utt_split: ['0', '-1', '61', 'x'],
  ...Object.fromEntries(
    [
      ...['numerals', 'redact', 'search', 'replace', 'detect_entities', 'dictation', 'callback', 'callback_method'],
      ...['multichannel', 'keyterm', 'keywords', 'measurements', 'diarize_model', 'diarize_version', 'encoding'],
      ...['summarize', 'topics', 'sentiment', 'intents', 'custom_intent', 'custom_intent_mode'],
      ...['custom_topic', 'custom_topic_mode'],
    ].map((name) => [name, ['true', 'x']]),
  ),
  interim_results: ['true', 'false'],
};
const IGNORED = ['filler_words', 'extra', 'profanity_filter', 'tag', 'mip_opt_out', 'version'];
const MAX_FILE_BYTES = 1_000_000;

describe("Deepgram's batch protocol", () => {
  let server: TestServer;
  let customer: Customer;
  let timers: ManualTimers;

  beforeEach(async () => {
    timers = new ManualTimers();
    server = await TestServer.start({ timers, settings: { maxFileBytes: MAX_FILE_BYTES, uploadIdleMs: 1000 } });
    customer = await server.customer();
  });
  afterEach(async () => {
    expect(server.uploads()).to.deep.equal([]);
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
  });

  interface Sent {
    query?: string;
    body?: Buffer;
    headers?: Record<string, string>;
    to?: TestServer;
    key?: { rawKey: string };
  }
  const send = ({
    query = '',
    body = fakeAudio(3),
    headers = {},
    to = server,
    key = customer.key,
  }: Sent = {}): Promise<Answer> =>
    call(to, `/v1/listen?${query}`, {
      method: 'POST',
      body: new Uint8Array(body),
      headers: { authorization: `Token ${key.rawKey}`, ...headers },
    });
  const answered = async (sent: Sent = {}): Promise<Body> => {
    const { status, body, text } = await send(sent);
    expect(status, text).to.equal(200);
    return body as unknown as Body;
  };
  const expectError = ({ status, body, headers, text }: Answer, expected: number, code: string): string => {
    expect(status, text).to.equal(expected);
    expect(Object.keys(body)).to.deep.equal(['err_code', 'err_msg', 'request_id']);
    expect(body).to.include({ err_code: code, request_id: headers.get('x-request-id') });
    return body['err_msg'] as string;
  };
  const rawHead = (framing: string): string =>
    `POST /v1/listen HTTP/1.1\r\nHost: test\r\nAuthorization: Token ${customer.key.rawKey}\r\n` +
    `Content-Type: audio/wav\r\n${framing}\r\n\r\n`;

  it('says when the request came', async () => {
    const now = Date.UTC(2026, 10, 25, 12);
    const to = await TestServer.start({ ledgerOptions: { clock: () => now } });
    try {
      const { key } = await to.customer();
      const begun = performance.now();
      const { metadata } = await answered({ to, key });
      const before = now - Date.parse(metadata.created);
      expect(before).to.be.within(0, Math.ceil(performance.now() - begun));
    } finally {
      await to.dispose();
    }
  });

  it('answers with the transcript, its words and the metadata, and charges as every endpoint does', async () => {
    const audio = fakeAudio(61.5);
    const answer = await send({ query: 'punctuate=true', body: audio, headers: { 'content-type': 'audio/wav' } });
    const { metadata, results } = answer.body as unknown as Body;
    expect(metadata).to.deep.include({
      ...{ transaction_key: 'deprecated', duration: 61.5, channels: 1, models: ['fake'] },
      ...{ sha256: createHash('sha256').update(audio).digest('hex') },
      model_info: { fake: { name: 'fake', version: '1', arch: 'verbatim' } },
    });
    expect(answer.headers.get('dg-request-id')).to.equal(metadata.request_id);
    expect(results.channels).to.have.length(1);
    expect(results).not.to.have.property('utterances');
    const [alternative] = results.channels[0]!.alternatives;
    expect(alternative!.transcript).to.equal('Hello, World.');
    expect(alternative!.words.map(({ word, punctuated_word: written }) => [word, written])).to.deep.equal([
      ['hello', 'Hello,'],
      ['world', 'World.'],
    ]);
    expect(alternative!.confidence).to.be.within(0.0001, 1);
    expect(alternative).not.to.have.any.keys('paragraphs', 'languages');
    expect(answer.headers.get('x-credits-used')).to.equal('2');
    expect(await server.balance(customer)).to.equal(98);
    const { byEndpoint } = await server.ledger.history.report(customer.account.id, 1);
    expect(byEndpoint).to.deep.equal([{ endpoint: '/v1/listen', minutes: 2 }]);
    expect(server.logs.find(({ requestId }) => requestId === metadata.request_id)).to.include({
      ...{ method: 'POST', route: '/v1/listen', status: 200, audioSeconds: 61.5, model: 'fake' },
    });
  });

  it('takes any media type, none, and a body in chunks', async () => {
    for (const type of ['audio/wav', 'video/mp4', 'application/octet-stream', 'text/plain', 'x']) {
      const { results } = await answered({ headers: { 'content-type': type } });
      expect(results.channels[0]!.alternatives[0]!.transcript, type).to.equal('hello world');
    }
    const client = await RawClient.open(server);
    client.send(rawHead('Transfer-Encoding: chunked'));
    for (const byte of fakeAudio(3)) client.send(`1\r\n${String.fromCharCode(byte)}\r\n`);
    client.send('0\r\n\r\n');
    const [, whole] = await client.until(/\r\n\r\n(\{.*"results".*\})/s);
    expect((JSON.parse(whole!) as Body).results.channels[0]!.alternatives[0]!.transcript).to.equal('hello world');
    client.destroy();
    expect(await answered({ body: fakeRecording(fakeAudio(2)) })).to.have.nested.property('metadata.duration', 2);
  });

  it('writes as its parameters say', async () => {
    const text = 'Is it Dr. Lovelace? It is.| And who are you?';
    const body = fakeAudio(30, { text });
    const [plain] = (await answered({ body })).results.channels[0]!.alternatives;
    expect(plain!.transcript).to.equal('is it dr lovelace it is and who are you');
    expect(plain!.words[0]).not.to.have.property('punctuated_word');
    const smart = await answered({ body, query: 'smart_format=true&utterances=true&utt_split=60' });
    const [{ paragraphs, transcript }] = smart.results.channels[0]!.alternatives as [
      Body['results']['channels'][0]['alternatives'][0],
    ];
    expect(transcript).to.equal('Is it Dr. Lovelace? It is. And who are you?');
    expect(paragraphs!.paragraphs.flatMap(({ sentences }) => sentences.map((each) => each.text))).to.deep.equal([
      ...['Is it Dr. Lovelace?', 'It is.', 'And who are you?'],
    ]);
    expect(paragraphs!.transcript.replaceAll('\n', ' ').trim().replace(/ +/g, ' ')).to.equal(transcript);
    expect(smart.results.utterances!.map((utterance) => utterance.transcript)).to.deep.equal([transcript]);
    expect(server.engine.transcribed).to.equal(2);
    const detected = await answered({ body: fakeAudio(3, { language: 'de' }), query: 'detect_language=true' });
    expect(detected.results.channels[0]).to.include({ detected_language: 'de' });
    const multi = await answered({ body: fakeAudio(3, { language: 'es' }), query: 'language=multi' });
    expect(multi.results.channels[0]!.alternatives[0]).to.deep.include({ languages: ['es'] });
    expect(multi.results.channels[0]!.alternatives[0]!.words[0]).to.include({ language: 'es' });
    expect(multi.results.channels[0]).not.to.have.property('detected_language');
    for (const model of ['nova-3', 'enhanced', 'base', 'fake', '']) await answered({ query: `model=${model}` });
  });

  it('parts utterances at pauses', async () => {
    const { results } = await answered({
      body: fakeAudio(20, { text: 'One two.|Three four.' }),
      query: 'punctuate=true&utterances=true',
    });
    const words = results.channels[0]!.alternatives[0]!.words;
    const gaps = words.slice(1).map(({ start }, index) => start - words[index]!.end);
    const utterances = results.utterances!;
    expect(utterances).to.have.length(1 + gaps.filter((gap) => gap >= 0.8).length);
    expect(utterances.flatMap((utterance) => utterance.words)).to.deep.equal(words);
    for (const { words: own, start, end } of utterances) {
      expect([start, end]).to.deep.equal([own[0]!.start, own.at(-1)!.end]);
    }
    expect(new Set(utterances.map(({ id }) => id)).size).to.equal(utterances.length);
  });

  it('gives words their speakers', async () => {
    const talking = await TestServer.start({ diarizer: new FakeDiarizer() });
    const { key } = await talking.customer();
    const { results } = await answered({
      ...{ to: talking, key },
      query: 'diarize=true&utterances=true&smart_format=true',
    });
    const { words, paragraphs } = results.channels[0]!.alternatives[0]!;
    expect(words.map(({ word, speaker }) => [word, speaker])).to.deep.equal([
      ['hello', 0],
      ['world', 1],
    ]);
    expect(results.utterances!.map(({ speaker, transcript }) => [speaker, transcript])).to.deep.equal([
      [0, 'Hello,'],
      [1, 'World.'],
    ]);
    expect(paragraphs!.transcript).to.equal('\nSpeaker 0: Hello,\n\nSpeaker 1: World.');
    await talking.dispose();
  });

  it('refuses by name what it does not serve, and names what it ignores', async () => {
    for (const [name, values] of Object.entries(REFUSED)) {
      for (const value of values) {
        const { status, body } = await send({ query: new URLSearchParams({ [name]: value }).toString() });
        expect(status, `${name}=${value}`).to.equal(400);
        const message = body['err_msg'] as string;
        const what = name === 'diarize' && value === 'true' ? 'distinguishes speakers' : name;
        expect(message.includes(what) || message.includes(`"${value}"`), message).to.equal(true);
      }
    }
    expect(server.engine.transcribed).to.equal(0);
    const off = Object.keys(REFUSED).filter((name) => REFUSED[name]?.join() === 'true,x');
    for (const value of ['', 'false']) await answered({ query: off.map((name) => `${name}=${value}`).join('&') });
    const { headers } = await send({ query: IGNORED.map((name) => `${name}=x`).join('&') });
    expect(headers.get('x-ignored-fields')?.split(', ')).to.have.members(IGNORED);
    expectError(await send({ query: 'model=fake&model=fake' }), 400, 'INVALID_REQUEST');
  });

  it('refuses what is no file, no audio, empty or too large', async () => {
    const url = Buffer.from('{"url":"https://example.org/a.wav"}');
    const json = await send({ body: url, headers: { 'content-type': 'application/json' } });
    expect(expectError(json, 400, 'INVALID_REQUEST')).to.include('"url"');
    const form = await send({ headers: { 'content-type': 'multipart/form-data; boundary=x' } });
    expectError(form, 415, 'UNSUPPORTED_MEDIA_TYPE');
    expectError(await send({ headers: { 'content-encoding': 'gzip' } }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    expectError(await send({ body: Buffer.from('no audio at all') }), 400, 'UNSUPPORTED_AUDIO_FORMAT');
    expectError(await send({ body: BROKEN_AUDIO }), 400, 'INVALID_AUDIO');
    expectError(await send({ body: Buffer.alloc(0) }), 400, 'UNSUPPORTED_AUDIO_FORMAT');
    const exact = Buffer.concat([fakeAudio(3), Buffer.alloc(MAX_FILE_BYTES - fakeAudio(3).length)]);
    await answered({ body: exact });
    expectError(await send({ body: Buffer.concat([exact, Buffer.alloc(1)]) }), 413, 'FILE_TOO_LARGE');
    const client = await RawClient.open(server);
    client.send(rawHead('Transfer-Encoding: chunked'));
    client.send(`${(MAX_FILE_BYTES + 1).toString(16)}\r\n`);
    client.send(Buffer.alloc(MAX_FILE_BYTES + 1));
    await client.until(/^HTTP\/1\.1 413/);
    client.destroy();
    expect(await server.balance(customer)).to.equal(99);
  });

  it('asks for a key and for credits, and knows no other method', async () => {
    const without = await call(server, '/v1/listen', { method: 'POST', body: new Uint8Array(fakeAudio(3)) });
    expectError(without, 401, 'MISSING_API_KEY');
    expectError(await send({ key: { rawKey: 'vb_none' } }), 401, 'INVALID_API_KEY');
    const { rawKey } = await server.ledger.keys.createEphemeral({
      ...{ keyId: customer.key.id, seconds: 60, session: null },
    });
    expectError(await send({ key: { rawKey } }), 401, 'INVALID_API_KEY');
    const poor = await server.customer(0);
    expectError(await send({ key: poor.key }), 402, 'INSUFFICIENT_CREDITS');
    const { status, headers } = await call(server, '/v1/listen', {
      headers: { authorization: `Token ${customer.key.rawKey}` },
    });
    expect([status, headers.get('allow')]).to.deep.equal([405, 'POST, OPTIONS']);
    await answered({ headers: { authorization: `Bearer ${customer.key.rawKey}` } });
  });

  it('is charged once under an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'once' };
    const first = await send({ headers });
    const again = await send({ headers, query: 'utterances=true' });
    expect(first.headers.get('idempotency-replayed')).to.equal(null);
    expect(again.headers.get('idempotency-replayed')).to.equal('true');
    const { results } = again.body as unknown as Body;
    expect(results.channels).to.deep.equal((first.body as unknown as Body).results.channels);
    expect(results.utterances).to.have.length.above(0);
    expectError(await send({ headers, query: 'punctuate=true' }), 409, 'IDEMPOTENCY_CONFLICT');
    expect(await server.balance(customer)).to.equal(99);
  });

  it('ends at once with its client, a silent upload, or its key', async () => {
    server.engine.holdAll();
    const leaving = await RawClient.open(server);
    leaving.send(rawHead(`Content-Length: ${fakeAudio(3).length}`) + fakeAudio(3).toString());
    await server.engine.untilRunning(1);
    leaving.destroy();
    await until(() => server.engine.running === 0);

    const half = await RawClient.open(server);
    half.send(rawHead('Content-Length: 1000') + 'audio');
    await until(() => server.uploads().length === 1);
    half.destroy();
    await until(() => server.uploads().length === 0);

    const silent = await RawClient.open(server);
    silent.send(rawHead('Content-Length: 1000') + 'audio');
    await until(() => server.uploads().length === 1);
    const clock = setInterval(() => timers.pass(100), 2);
    const [, message] = await silent.until(/"err_msg":"([^"]+)"/);
    clearInterval(clock);
    expect(message).to.equal('The upload made no progress for 1 s.');
    silent.destroy();

    const revoked = send();
    await server.engine.untilRunning(1);
    await server.ledger.keys.revoke(customer.account.id, customer.key.id);
    timers.pass(250);
    expectError(await revoked, 401, 'INVALID_API_KEY');
    expect(await server.balance(customer)).to.equal(100);
  });
});
