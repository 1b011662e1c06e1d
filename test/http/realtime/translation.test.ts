/** OpenAI's live translation: its events, its ephemeral keys, and what is refused. */
import { expect } from 'chai';
import { fakeTranslator } from '../../support/fake-translator.js';
import { at24kHz, pieces, spokenPcm } from '../../support/live-audio.js';
import { call, type Answer } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { socketRefusal, SocketClient, type SocketEvent } from '../../support/socket-client.js';
import { until } from '../../support/until.js';

const PATH = '/v1/realtime/translations';
const SECRETS = `${PATH}/client_secrets`;
/** 200 ms. */
const PIECE_BYTES = 9600;
const SPOKEN = 'session.input_transcript.delta';
const TRANSLATED = 'session.output_transcript.delta';

describe("OpenAI's live translation", () => {
  let server: TestServer;
  let customer: Customer;

  beforeEach(async () => {
    const translator = fakeTranslator(
      (text, { from, to }) => `(${from}-${to}) ${text}`,
      (from, to) => from !== to && ['de', 'en', 'es'].includes(to),
    );
    server = await TestServer.start({ translator, settings: { translationCreditsPerMinute: 4 } });
    customer = await server.customer();
  });
  afterEach(() => server.dispose());

  const open = (query = '?model=gpt-realtime-translate'): Promise<SocketClient> =>
    SocketClient.connect(server.url + PATH + query, [], { headers: bearer(customer.key) });
  const append = (client: SocketClient, pcm = at24kHz(spokenPcm())): void => {
    for (const piece of pieces(pcm, PIECE_BYTES)) {
      client.send({ type: 'session.input_audio_buffer.append', audio: piece.toString('base64') });
    }
  };
  const configure = (client: SocketClient, audio: object): void =>
    client.send({ type: 'session.update', session: { audio } });
  const errorOf = async (client: SocketClient, event: object): Promise<Record<string, unknown>> => {
    const before = client.of('error').length;
    client.send(event);
    await until(() => client.of('error').length > before);
    return client.of('error').at(-1)!['error'] as Record<string, unknown>;
  };
  const sessionOf = (event: SocketEvent): Record<string, unknown> => event['session'] as Record<string, unknown>;
  const post = (body: object): Promise<Answer> =>
    call(server, SECRETS, {
      ...{ method: 'POST', body: JSON.stringify(body) },
      headers: { ...bearer(customer.key), 'content-type': 'application/json' },
    });

  it('translates what is spoken, and gives the spoken text only to who asks for it', async () => {
    server.engine.utterances.push(' Good morning.', ' It is late.', ' Good night.');
    const client = await open();
    const created = sessionOf(await client.next('session.created'));
    expect(created).to.include({ type: 'translation', model: 'gpt-realtime-translate' });
    expect(created['id']).to.match(/^sess_/);
    expect(created['expires_at']).to.be.a('number');
    expect(created['audio']).to.deep.equal({
      input: { transcription: null, noise_reduction: null },
      output: { language: 'en' },
    });
    configure(client, { output: { language: 'de' } });
    expect(sessionOf(await client.next('session.updated'))).to.have.nested.property('audio.output.language', 'de');
    append(client);
    const first = await client.next(TRANSLATED);
    expect(first['delta']).to.equal('(en-de) Good morning.');
    expect(Number(first['elapsed_ms']) % 200).to.equal(0);
    expect(first['elapsed_ms']).to.be.above(0);
    expect(client.of(SPOKEN)).to.deep.equal([]);
    // Both change while the session runs.
    configure(client, { input: { transcription: { model: 'gpt-realtime-whisper' } }, output: { language: 'es' } });
    await until(() => client.of('session.updated').length === 2);
    append(client);
    append(client);
    client.send({ type: 'session.close' });
    expect(await client.untilClosed()).to.deep.equal({ code: 1000, reason: '' });
    expect(client.types.at(-1)).to.equal('session.closed');
    const joined = (type: string): string =>
      client
        .of(type)
        .map(({ delta }) => delta)
        .join('');
    expect(joined(SPOKEN)).to.equal('It is late. Good night.');
    expect(joined(TRANSLATED)).to.equal('(en-de) Good morning. (en-es) It is late. (en-es) Good night.');
    expect(new Set(client.events.map((event) => event['event_id'])).size).to.equal(client.events.length);
    // One started minute, and its surcharge.
    expect(await server.balance(customer)).to.equal(95);
    const usage = await call(server, '/api/v1/usage', { headers: bearer(customer.key) });
    expect(usage.body['by_endpoint']).to.deep.equal([{ endpoint: PATH, minutes: 1 }]);
  });

  it('has a language that was given decoded in it', async () => {
    const client = await open();
    configure(client, { input: { transcription: { language: 'de' } } });
    append(client);
    client.send({ type: 'session.close' });
    await client.untilClosed();
    expect(server.engine.recognised[0]).to.include({ language: 'de' });
    expect(client.of(TRANSLATED)[0]).to.include({ delta: '(de-en) Hello, World.' });
  });

  it('closes without audio, and takes nothing more', async () => {
    const client = await open('');
    client.send({ type: 'session.close' });
    expect(await client.untilClosed()).to.include({ code: 1000 });
    expect(client.types).to.deep.equal(['session.created', 'session.closed']);
    expect(await server.balance(customer)).to.equal(100);
  });

  it('refuses events one by one, and goes on', async () => {
    const client = await open();
    const bad: [object, Record<string, unknown>][] = [
      [
        { type: 'input_audio_buffer.append', event_id: 'e1' },
        { param: 'type', event_id: 'e1' },
      ],
      [{ type: 'session.input_audio_buffer.append', audio: '%%' }, { param: 'audio' }],
      [{ type: 'session.update' }, { param: 'session' }],
      [{ type: 'session.update', session: { type: 'transcription' } }, { param: 'session.type' }],
      [{ type: 'session.update', session: { model: 'gpt-4o-transcribe' } }, { param: 'session.model' }],
      [
        { type: 'session.update', session: { audio: { output: { language: 'fr' } } } },
        { param: 'session.audio.output.language', code: 'unsupported_translation' },
      ],
      [
        { type: 'session.update', session: { audio: { output: { language: 'klingonish' } } } },
        { param: 'session.audio.output.language', code: 'unsupported_translation' },
      ],
      [
        { type: 'session.update', session: { audio: { input: { transcription: { model: 'none' } } } } },
        { code: 'model_not_found' },
      ],
      [
        { type: 'session.update', session: { audio: { input: { transcription: { language: 'klingonish' } } } } },
        { code: 'unsupported_language' },
      ],
    ];
    for (const [event, expected] of bad) {
      expect(await errorOf(client, event), JSON.stringify(event)).to.include(expected);
    }
    const { message } = await errorOf(client, bad[5]![0]);
    expect(message).to.include('de, en, es');
    append(client);
    await client.next(TRANSLATED);
    client.close();
  });

  it('reports what could not be translated, and goes on', async () => {
    server.engine.failWith = new Error('It broke.');
    const client = await open();
    configure(client, { output: { language: 'de' } });
    append(client);
    expect(await client.next('error')).to.have.nested.property('error.code', 'internal_error');
    append(client);
    await client.next(TRANSLATED);
    client.close();
  });

  it('needs a balance that covers the surcharge', async () => {
    customer = await server.customer(4);
    const refused = await socketRefusal(server.url + PATH, { headers: bearer(customer.key) });
    expect(refused.status).to.equal(429);
    customer = await server.customer(5);
    const client = await open();
    append(client);
    await client.next(TRANSLATED);
    expect(await server.balance(customer)).to.equal(0);
    client.close();
  });

  it('is refused before the connection where nothing translates', async () => {
    const other = await TestServer.start();
    try {
      const { key } = await other.customer();
      const { status, body } = await socketRefusal(other.url + PATH, { headers: bearer(key) });
      expect(status).to.equal(400);
      expect(JSON.parse(body)).to.have.nested.property('error.code', 'unsupported_translation');
    } finally {
      await other.dispose();
    }
    const unknown = await socketRefusal(`${server.url}${PATH}?model=none`, { headers: bearer(customer.key) });
    expect(unknown.status).to.equal(404);
    expect((await socketRefusal(server.url + PATH)).status).to.equal(401);
  });

  it('has ephemeral keys of its own', async () => {
    const audio = { input: { transcription: { model: 'whisper-1' } }, output: { language: 'es' } };
    const { status, body, headers } = await post({
      expires_after: { anchor: 'created_at', seconds: 60 },
      session: { model: 'gpt-realtime-translate', audio },
    });
    expect(status).to.equal(200);
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(body['value']).to.match(/^ek_/);
    expect(body['session']).to.include({ type: 'translation', model: 'gpt-realtime-translate' });
    const key = `openai-insecure-api-key.${String(body['value'])}`;
    const client = await SocketClient.connect(server.url + PATH, ['realtime', key]);
    expect(client.socket.protocol).to.equal('realtime');
    const created = sessionOf(await client.next('session.created'));
    expect(created['audio']).to.deep.equal((body['session'] as { audio: object }).audio);
    expect(created).to.have.nested.property('audio.output.language', 'es');
    client.close();
    // Each opens its own kind of session.
    const transcription = `${server.url}/v1/realtime?intent=transcription`;
    expect((await socketRefusal(transcription, {}, ['realtime', key])).status).to.equal(403);
    const other = await call(server, '/v1/realtime/client_secrets', { method: 'POST', headers: bearer(customer.key) });
    const foreign = `openai-insecure-api-key.${String(other.body['value'])}`;
    expect((await socketRefusal(server.url + PATH, {}, ['realtime', foreign])).status).to.equal(403);
    const refused = await post({ session: { audio: { output: { language: 'fr' } } } });
    expect(refused.status).to.equal(400);
    expect(refused.error).to.include({ param: 'session.audio.output.language' });
    expect((await post({ session: { model: 'none' } })).status).to.equal(404);
  });
});
