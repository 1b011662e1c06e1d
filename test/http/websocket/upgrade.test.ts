/** Requests for WebSockets that are refused before they leave HTTP, and what of them is logged. */
import { expect } from 'chai';
import { spokenPcm } from '../../support/live-audio.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { call, RawClient } from '../../support/requests.js';
import { TestServer, type Customer, type TestServerOptions } from '../../support/server.js';
import { socketRefusal, SocketClient } from '../../support/socket-client.js';
import { until } from '../../support/until.js';

const REALTIME = '/v1/realtime?intent=transcription';
const LISTEN = '/v1/listen?encoding=linear16&sample_rate=16000';
const PATHS = [REALTIME, LISTEN];
const UNKNOWN_KEY = `vb_${'x'.repeat(43)}`;

interface Refusal {
  error?: { code: string; type?: string };
  err_code?: string;
  err_msg?: string;
}

describe('requests for WebSockets', () => {
  let server: TestServer;
  let customer: Customer;

  const start = async (options: TestServerOptions = {}): Promise<void> => {
    server = await TestServer.start(options);
    customer = await server.customer();
  };
  afterEach(() => server.dispose());

  const headers = (key = customer.key.rawKey) => ({ authorization: `Bearer ${key}` });
  const open = (path: string, more: Record<string, string> = {}, key?: string): Promise<SocketClient> =>
    SocketClient.connect(server.url + path, [], { headers: { ...headers(key), ...more } });
  const refused = async (
    path: string,
    given: Record<string, string> = headers(),
    subprotocols: string[] = [],
  ): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Refusal }> => {
    const answer = await socketRefusal(server.url + path, { headers: given }, subprotocols);
    return { ...answer, body: JSON.parse(answer.body) as Refusal };
  };
  /** The code as each protocol names it. */
  const codeOf = ({ error, err_code: code }: Refusal): string | undefined => error?.code ?? code?.toLowerCase();

  it('without a key that is known are refused in the form of each protocol', async () => {
    await start();
    for (const path of PATHS) {
      for (const given of [{}, headers(UNKNOWN_KEY), { authorization: 'Basic YTpi' }, headers('')]) {
        const { status, headers: sent, body } = await refused(path, given);
        expect(status, path).to.equal(401);
        expect(sent['www-authenticate']).to.equal('Bearer');
        expect(codeOf(body)).to.match(/^(missing|invalid)_api_key$/);
        if (path === LISTEN) expect(body).to.have.all.keys('err_code', 'err_msg', 'request_id');
        else expect(body.error).to.have.all.keys('type', 'code', 'message', 'param');
      }
    }
    expect((await refused(REALTIME, {}, ['realtime', `openai-insecure-api-key.${UNKNOWN_KEY}`])).status).to.equal(401);
    expect((await refused(LISTEN, {}, ['token', UNKNOWN_KEY])).status).to.equal(401);
  });

  it('at no path of theirs are answered as every unknown path is', async () => {
    await start();
    const { status, body } = await refused('/v1/nothing');
    expect(status).to.equal(404);
    expect(body.error).to.include({ code: 'not_found' });
  });

  it('without credits are refused', async () => {
    await start();
    const poor = await server.customer(0);
    const answers = await Promise.all(PATHS.map((path) => refused(path, headers(poor.key.rawKey))));
    expect(answers.map(({ status }) => status)).to.deep.equal([429, 402]);
    expect(codeOf(answers[0]!.body)).to.equal('insufficient_quota');
    expect(codeOf(answers[1]!.body)).to.equal('insufficient_credits');
  });

  it('over the limit of the account are refused, and others are not', async () => {
    await start({ settings: { maxLiveSessions: 2 } });
    const clients = [await open(REALTIME), await open(LISTEN)];
    for (const path of PATHS) {
      const { status, headers: sent } = await refused(path);
      expect(status).to.equal(429);
      expect(Number(sent['retry-after'])).to.be.at.least(1);
    }
    const other = await server.customer();
    (await open(REALTIME, {}, other.key.rawKey)).close();
    clients[0]!.close();
    await until(async () => {
      const again = await open(LISTEN).catch(() => null);
      again?.close();
      return again !== null;
    });
    clients[1]!.close();
  });

  it('over what the machine carries are refused with 503 before the upgrade', async () => {
    // Time stands still: sessions that say nothing count for less as it passes.
    await start({ settings: { maxLiveSessions: 100 }, timers: new ManualTimers() });
    const clients: SocketClient[] = [];
    Object.assign(server.engine, { realTimeFactor: 1, slots: 1 });
    // By the first guess each takes 0.064 of the one slot, and at most 0.7 are given away.
    for (const attempt = () => open(REALTIME).catch(() => null); ;) {
      const client = await attempt();
      if (client === null) break;
      clients.push(client);
    }
    expect(clients).to.have.length.within(8, 50);
    for (const path of PATHS) {
      const { status, headers: sent, body } = await refused(path);
      expect(status).to.equal(503);
      expect(Number(sent['retry-after'])).to.be.at.least(1);
      expect(codeOf(body)).to.equal('overloaded');
    }
    for (const client of clients) client.close();
  });

  it('of pages of another origin are refused, unless CORS names it', async () => {
    await start();
    for (const origin of ['https://evil.example', 'null', `http://127.0.0.1:${server.port + 1}`]) {
      for (const path of PATHS) {
        const { status } = await refused(path, { ...headers(), origin });
        expect(status, origin).to.equal(403);
      }
    }
    (await open(REALTIME, { origin: server.url })).close();
    await server.dispose();
    await start({ settings: { corsOrigins: ['https://app.example'] } });
    (await open(LISTEN, { origin: 'https://app.example' })).close();
    expect((await refused(LISTEN, { ...headers(), origin: 'https://app.example.evil' })).status).to.equal(403);
  });

  it('while the server drains are refused with 503', async () => {
    await start();
    const silent = [await open(LISTEN), await open(REALTIME)];
    const speaking = await open(`${LISTEN}&vad_events=true&endpointing=false`);
    speaking.socket.send(spokenPcm({ silenceSeconds: 0 }));
    await speaking.next('SpeechStarted');
    const closing = server.close(60_000);
    for (const path of PATHS) expect((await refused(path)).status).to.equal(503);
    speaking.send({ type: 'Finalize' });
    expect(await speaking.next('Results')).to.include({ from_finalize: true });
    for (const one of [speaking, ...silent]) expect((await one.untilClosed()).code).to.equal(1001);
    await closing;
  });

  it('count for the address that a trusted proxy names', async () => {
    await start({ settings: { trustProxy: ['loopback'], maxConnectionsPerAddress: 2 } });
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const clients = [await open(REALTIME, from('192.0.2.7')), await open(LISTEN, from('192.0.2.7'))];
    const { status, body } = await refused(REALTIME, { ...headers(), ...from('192.0.2.7') });
    expect(status).to.equal(429);
    expect(codeOf(body)).to.equal('rate_limit_exceeded');
    (await open(REALTIME, from('192.0.2.8'))).close();
    clients[0]!.close();
    await until(async () => {
      const again = await open(REALTIME, from('192.0.2.7')).catch(() => null);
      again?.close();
      return again !== null;
    });
    clients[1]!.close();
  });

  it('believe no X-Forwarded-For of a client', async () => {
    await start({ settings: { trustProxy: [], maxConnectionsPerAddress: 3 } });
    const clients = [];
    for (let i = 0; i < 3; i++) clients.push(await open(REALTIME, { 'x-forwarded-for': `192.0.2.${i}` }));
    expect((await refused(REALTIME, { ...headers(), 'x-forwarded-for': '192.0.2.99' })).status).to.equal(429);
    for (const client of clients) client.close();
  });

  it('leave one line in the log each, and no key', async () => {
    await start();
    const { rawKey } = customer.key;
    const inProtocol = ['realtime', `openai-insecure-api-key.${rawKey}`];
    (await SocketClient.connect(server.url + REALTIME, inProtocol)).close();
    (await SocketClient.connect(server.url + LISTEN, ['token', rawKey])).close();
    await refused(LISTEN, {}, ['token', UNKNOWN_KEY]);
    await refused(`${LISTEN}&redact=${rawKey}`);
    const lines = () => server.logs.filter(({ route }) => String(route).startsWith('/v1/'));
    await until(() => lines().length === 4);
    const statuses = lines().map(({ status }) => Number(status));
    expect(statuses.sort()).to.deep.equal([101, 101, 400, 401]);
    for (const line of lines()) expect(line).to.include.keys('requestId', 'durationMs');
    const all = JSON.stringify(server.logs);
    expect(all).not.to.include(rawKey.slice(3));
    expect(all).not.to.include(UNKNOWN_KEY);
  });

  it('choose the subprotocol that clients wait for', async () => {
    await start();
    const { rawKey } = customer.key;
    const cases: [string, string[], string][] = [
      [REALTIME, ['realtime', `openai-insecure-api-key.${rawKey}`, 'openai-organization.x'], 'realtime'],
      [LISTEN, ['token', rawKey], 'token'],
      [LISTEN, ['bearer', rawKey, 'x-deepgram-session-id', 'c3f8'], 'bearer'],
    ];
    for (const [path, subprotocols, chosen] of cases) {
      const client = await SocketClient.connect(server.url + path, subprotocols);
      expect(client.socket.protocol).to.equal(chosen);
      client.close();
    }
  });

  it('that are no WebSocket handshake are answered, and hold nothing', async () => {
    await start({ settings: { maxLiveSessions: 1 } });
    const auth = `Authorization: Bearer ${customer.key.rawKey}\r\n`;
    const bad = [
      'Sec-WebSocket-Version: 12\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n',
      '',
      'Sec-WebSocket-Key: x\r\n',
    ];
    for (const extra of bad) {
      const client = await RawClient.open(server);
      const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
      client.send(`GET ${REALTIME} HTTP/1.1\r\nHost: a\r\n${upgrade}${auth}${extra}\r\n`);
      const [, status] = await client.until(/^HTTP\/1\.1 (\d+)/);
      expect(Number(status), extra).to.be.within(400, 426);
      await until(() => client.closed);
    }
    await until(async () => {
      const one = await open(REALTIME).catch(() => null);
      one?.close();
      return one !== null;
    });
  });

  it('for another protocol are answered in HTTP, with a body and without', async () => {
    await start();
    const upgrade = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';
    const get = await RawClient.open(server);
    get.send(`GET /healthz HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`);
    await get.until(/^HTTP\/1\.1 200 [^]*"status":"ok"/);
    // The connection stays one of HTTP.
    get.received = '';
    get.send('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    await get.until(/^HTTP\/1\.1 200 [^]*"status":"ok"/);
    get.destroy();
    const post = await RawClient.open(server);
    const body = '{"name":"of curl"}';
    const auth = `Authorization: Bearer ${customer.managementKey.rawKey}\r\n`;
    const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    post.send(`POST /api/v1/keys HTTP/1.1\r\nHost: a\r\n${upgrade}${auth}${type}\r\n${body}`);
    await post.until(/^HTTP\/1\.1 201 [^]*"name":"of curl"/);
    post.destroy();
    // A WebSocket is asked for by GET alone.
    const websocket = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    const other = await RawClient.open(server);
    other.send(`POST ${REALTIME} HTTP/1.1\r\nHost: a\r\n${websocket}Content-Length: 0\r\n\r\n`);
    await other.until(/^HTTP\/1\.1 404 /);
    other.destroy();
    expect((await call(server, REALTIME)).status).to.equal(404);
  });
});
