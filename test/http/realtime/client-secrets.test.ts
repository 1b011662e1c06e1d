/** Ephemeral keys over HTTP and WebSockets: OpenAI's, in both dialects, and Deepgram's. */
import { expect } from 'chai';
import type { SocketEvent } from '../../support/socket-client.js';
import { call, transcribe, type Answer } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { socketRefusal, SocketClient } from '../../support/socket-client.js';

const SECRETS = '/v1/realtime/client_secrets';
const BETA_SECRETS = '/v1/realtime/transcription_sessions';
const GRANT = '/v1/auth/grant';
const LISTEN = '/v1/listen?encoding=linear16&sample_rate=16000';
const INSECURE = 'openai-insecure-api-key.';

describe('ephemeral keys', () => {
  let server: TestServer;
  let customer: Customer;
  let now: number;

  beforeEach(async () => {
    now = Date.UTC(2026, 10, 25);
    server = await TestServer.start({ ledgerOptions: { clock: () => now } });
    customer = await server.customer();
  });
  afterEach(() => server.dispose());

  const post = (path: string, body: object | null = {}, headers = bearer(customer.key)): Promise<Answer> =>
    call(server, path, {
      ...{ method: 'POST', headers: { ...headers, 'content-type': 'application/json' } },
      ...(body === null ? {} : { body: JSON.stringify(body) }),
    });
  const made = async (session: object = { type: 'transcription' }): Promise<string> =>
    String((await post(SECRETS, { session })).body['value']);

  /** As a browser does it. */
  const browser = (key: string, query = '?intent=transcription', ...more: string[]): Promise<SocketClient> =>
    SocketClient.connect(`${server.url}/v1/realtime${query}`, ['realtime', INSECURE + key, ...more]);
  const refused = (key: string): Promise<{ status: number; body: string }> =>
    socketRefusal(`${server.url}/v1/realtime?intent=transcription`, {}, ['realtime', INSECURE + key]);
  const listenWith = (key: string): Promise<SocketClient> => SocketClient.connect(server.url + LISTEN, ['bearer', key]);

  it('open a session with the settings that were written into them', async () => {
    const transcription = { model: 'whisper-1', language: 'de', prompt: 'Käthe' };
    const input = { format: { type: 'audio/pcmu' }, transcription, turn_detection: null };
    const { status, body, headers } = await post(SECRETS, {
      expires_after: { anchor: 'created_at', seconds: 60 },
      session: { type: 'transcription', audio: { input } },
    });
    expect(status).to.equal(200);
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(body['value']).to.match(/^ek_/);
    expect(body['expires_at']).to.equal(now / 1000 + 60);
    expect(body['session']).to.include({ type: 'transcription', object: 'realtime.transcription_session' });
    const shown = (event: Record<string, unknown>): unknown => (event['session'] as { audio: unknown }).audio;
    const client = await browser(String(body['value']), '');
    expect(client.socket.protocol).to.equal('realtime');
    const created = await client.next('session.created');
    expect(shown(created)).to.deep.equal(shown(body));
    expect(shown(created)).to.have.nested.property('input.turn_detection', null);
    expect(shown(created)).to.deep.nested.include({ 'input.format': { type: 'audio/pcmu' } });
    expect(shown(created)).to.deep.nested.include({ 'input.transcription': { ...transcription, keywords: [] } });
    client.close();
  });

  it('live for ten minutes by default, from ten seconds to two hours, and not a millisecond longer', async () => {
    expect((await post(SECRETS, null)).body['expires_at']).to.equal(now / 1000 + 600);
    for (const seconds of [9, 7201, 10.5, '60']) {
      const { status, error } = await post(SECRETS, { expires_after: { seconds } });
      expect(status, `${seconds}`).to.equal(400);
      expect(error).to.include({ param: 'body.expires_after.seconds' });
    }
    const value = String((await post(SECRETS, { expires_after: { seconds: 10 } })).body['value']);
    now += 9999;
    const client = await browser(value);
    await client.next('session.created');
    now += 1;
    expect(await refused(value)).to.include({ status: 401 });
    // What was opened with it goes on.
    client.send({ type: 'input_audio_buffer.clear' });
    await client.next('input_audio_buffer.cleared');
    client.close();
  });

  it('refuse a session as session.update does', async () => {
    const bad: [object, number, string][] = [
      [{ type: 'realtime' }, 400, 'session.type'],
      [{ audio: { input: { format: { type: 'audio/mp3' } } } }, 400, 'session.audio.input.format.type'],
      [{ audio: { input: { transcription: { language: 'klingonish' } } } }, 400, 'language'],
      [{ audio: { input: { transcription: { language: 'ja' } } } }, 400, 'language'],
      [{ audio: { input: { transcription: { model: 'none' } } } }, 404, 'session.audio.input.transcription.model'],
    ];
    for (const [session, status, param] of bad) {
      const answer = await post(SECRETS, { session });
      expect(answer.status, JSON.stringify(session)).to.equal(status);
      expect(answer.error).to.include({ param });
    }
  });

  it('come in the beta dialect, too', async () => {
    const { status, body } = await post(BETA_SECRETS, {
      ...{ input_audio_format: 'g711_alaw', input_audio_transcription: { model: 'whisper-1', language: 'de' } },
      client_secret: { expires_at: { anchor: 'created_at', seconds: 30 } },
    });
    expect(status).to.equal(200);
    expect(body).to.include({ object: 'realtime.transcription_session', input_audio_format: 'g711_alaw' });
    const secret = body['client_secret'] as { value: string; expires_at: number };
    expect(secret.expires_at).to.equal(now / 1000 + 30);
    const client = await browser(secret.value, '', 'openai-beta.realtime-v1');
    const { session } = (await client.next('transcription_session.created')) as SocketEvent & { session: object };
    expect(session).to.include({ input_audio_format: 'g711_alaw' });
    expect(session).to.have.nested.property('input_audio_transcription.language', 'de');
    client.close();
  });

  it("come as Deepgram's tokens, for a key in either scheme", async () => {
    for (const scheme of ['Token', 'Bearer']) {
      const authorization = `${scheme} ${customer.key.rawKey}`;
      const { status, body } = await post(GRANT, null, { authorization });
      expect(status).to.equal(200);
      expect(body).to.have.all.keys('access_token', 'expires_in');
      expect(body['expires_in']).to.equal(30);
      const client = await listenWith(String(body['access_token']));
      client.send({ type: 'CloseStream' });
      expect((await client.untilClosed()).code).to.equal(1000);
    }
    const long = await post(GRANT, { ttl_seconds: 3600 });
    expect(long.body['expires_in']).to.equal(3600);
    now += 3_600_000;
    const expired = await socketRefusal(server.url + LISTEN, {}, ['bearer', String(long.body['access_token'])]);
    expect(expired.status).to.equal(401);
    expect(JSON.parse(expired.body)).to.have.all.keys('err_code', 'err_msg', 'request_id');
    for (const ttl of [0, 3601, '30', 1.5]) {
      const { status, body } = await post(GRANT, { ttl_seconds: ttl });
      expect(status, `${ttl}`).to.equal(400);
      expect(body).to.include({ err_code: 'INVALID_REQUEST' });
      expect(body['err_msg']).to.include('ttl_seconds');
    }
    expect((await post(GRANT, {}, {})).body).to.include({ err_code: 'MISSING_API_KEY' });
  });

  it('open WebSockets only', async () => {
    const value = await made();
    expect((await transcribe(server, { key: value })).status).to.equal(401);
    for (const path of ['/api/v1/me', '/v1/models']) {
      expect((await call(server, path, { headers: bearer(value) })).status, path).to.equal(401);
    }
    for (const path of [SECRETS, BETA_SECRETS, GRANT]) {
      expect((await post(path, {}, bearer(value))).status, path).to.equal(401);
    }
  });

  it('end with the key that made them, and so do their sessions', async () => {
    const value = await made();
    const client = await browser(value);
    await client.next('session.created');
    client.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(4800).toString('base64') });
    const path = `/api/v1/keys/${customer.key.id}`;
    expect((await call(server, path, { method: 'DELETE', headers: bearer(customer.managementKey) })).status).to.equal(
      200,
    );
    expect((await client.untilClosed()).code).to.equal(1008);
    expect(await refused(value)).to.include({ status: 401 });
  });

  it('that were changed or made up are unknown', async () => {
    const value = await made();
    const last = value.endsWith('A') ? 'B' : 'A';
    for (const key of [value.slice(0, -1) + last, `${value}A`, value.replace('.', ''), 'ek_', 'ek_68af296e8e408191']) {
      expect(await refused(key), key).to.include({ status: 401 });
    }
    const page = await socketRefusal(server.url + LISTEN, {}, ['token', `${value}x`]);
    expect(page.status).to.equal(401);
  });

  it('never reach a line of the log', async () => {
    const value = await made();
    (await browser(value)).close();
    await refused(`${value}x`);
    const log = JSON.stringify(server.logs);
    expect(log).to.include('/v1/realtime');
    expect(log).not.to.include(value.slice(0, 20));
    expect(log).not.to.include(customer.key.rawKey.slice(0, 20));
  });
});
