/** What connections may hold: answers that nobody reads, places of an address, and who speaks for an address. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { AddressLimit } from '../../../src/http/limits/address-limit.js';
import { StalledAnswers } from '../../../src/http/connections/stalled-answers.js';
import { call, RawClient, transcribe } from '../../support/requests.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { TestServer } from '../../support/server.js';
import { until } from '../../support/until.js';

const BUNDLE = '/docs/swagger-ui-bundle.js';
const BUNDLE_BYTES = statSync(require.resolve('swagger-ui-dist/swagger-ui-bundle.js')).size;
const get = (path: string, extra = ''): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${extra}\r\n`;

describe('answers that nobody reads', () => {
  it('hold one piece of one answer a connection', async () => {
    const server = await TestServer.start();
    const client = await RawClient.open(server);
    let most = 0;
    let socket: Socket | undefined;
    const onRequest = (message: unknown): void => {
      const { req } = (message as { response: ServerResponse & { socket: Socket } }).response;
      // Servers ask themselves as well, once a second.
      if (req.socket.remotePort !== client.socket.localPort) return;
      ({ socket } = req);
      most = Math.max(most, socket.writableLength);
    };
    subscribe('http.server.request.start', onRequest);
    client.socket.pause();
    client.send(get(BUNDLE).repeat(20));
    await until(() => socket?.writableNeedDrain === true);
    expect(socket!.writableLength).to.be.within(1, 131_072);
    client.socket.resume();
    let taken = 0;
    client.socket.on('data', (chunk: Buffer) => (taken += chunk.length));
    await until(() => taken >= 20 * BUNDLE_BYTES);
    expect(most).to.be.at.most(131_072);
    unsubscribe('http.server.request.start', onRequest);
    client.destroy();
    await server.dispose();
  });

  it('are cut, and counted', async () => {
    const timers = new ManualTimers();
    const server = await TestServer.start({ timers, settings: { answerStallMs: 600 } });
    const client = await RawClient.open(server);
    client.socket.pause();
    client.send(get(BUNDLE).repeat(20));
    await until(async () => {
      timers.pass(100);
      return (await call(server, '/metrics')).text.includes('\nverbatim_answers_cut_total 1\n');
    });
    client.socket.resume();
    await until(() => client.closed);
    expect(client.received.length).to.be.below(20 * BUNDLE_BYTES);
    await server.dispose();
  });
});

describe('StalledAnswers', () => {
  let server: Server;
  let client: Socket;
  let served: Socket;
  let cuts = 0;
  let timers: ManualTimers;

  beforeEach(async () => {
    cuts = 0;
    timers = new ManualTimers();
    const answers = new StalledAnswers({ limitMs: 30_000, timers, onCut: () => (cuts += 1) });
    server = createServer((socket) => (served = socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.pause();
    await once(server, 'connection');
    served.on('error', () => undefined);
    client.on('error', () => undefined);
    answers.watch(served);
  });
  afterEach(() => {
    client.destroy();
    server.close();
  });

  const write = (count: number): void => {
    for (let n = 0; n < count; n++) served.write(Buffer.alloc(65_536));
  };

  it('leave an idle connection alone', () => {
    timers.pass(1e6);
    expect([cuts, served.destroyed]).to.deep.equal([0, false]);
  });

  it('cut a connection 30 s after the last of it was taken', async () => {
    write(400);
    let [waiting, since] = [-1, 0];
    // The kernel may take its time to take what it takes.
    for (let now = 5000; !served.destroyed; now += 5000) {
      if (served.writableLength !== waiting) [waiting, since] = [served.writableLength, now];
      expect(now - since).to.be.at.most(30_000);
      expect(cuts).to.equal(0);
      timers.pass(5000);
      if (now - since < 30_000) expect(served.destroyed).to.equal(false);
      await new Promise(setImmediate);
    }
    expect(waiting).to.be.above(0);
    expect(cuts).to.equal(1);
  });

  it('leave a connection alone whose client reads, however slowly', async () => {
    write(400);
    timers.pass(5000);
    while (served.writableLength > 0) {
      const before = served.writableLength;
      while (served.writableLength === before) {
        client.read();
        await new Promise(setImmediate);
      }
      timers.pass(29_999);
    }
    expect([cuts, served.destroyed]).to.deep.equal([0, false]);
  });
});

describe('connections of an address', () => {
  let server: TestServer;
  const clients: RawClient[] = [];
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await server.dispose();
  });

  async function open(from = '127.0.0.1'): Promise<RawClient> {
    const client = await RawClient.open(server, from);
    clients.push(client);
    return client;
  }
  async function statusOf(client: RawClient, request = get('/healthz')): Promise<number> {
    client.received = '';
    client.send(request);
    return Number((await client.until(/^HTTP\/1\.1 (\d+)/))[1]);
  }

  it('are limited, and one that goes makes room', async () => {
    server = await TestServer.start({ settings: { maxConnectionsPerAddress: 2 } });
    const [first, second] = [await open(), await open()];
    expect([await statusOf(first), await statusOf(second)]).to.deep.equal([200, 200]);
    const { status, error, head } = await (await open()).answer();
    expect(status).to.equal(429);
    expect(error).to.include({ code: 'rate_limited', param: null });
    expect(head)
      .to.match(/\r\nRetry-After: 1\r\n/)
      .and.to.include(error.request_id);
    expect(server.logs.at(-1)).to.include({ code: 'rate_limited', address: '127.0.0.1' });
    expect(await statusOf(await open('127.0.0.2'))).to.equal(200);
    first.destroy();
    const retried = async (): Promise<number> => statusOf(await open());
    while ((await retried()) !== 200);
  });

  it('are those of the clients that a trusted proxy names', async () => {
    const settings = { maxConnectionsPerAddress: 2, trustProxy: ['127.0.0.0/8'] };
    server = await TestServer.start({ settings });
    server.engine.holdAll();
    const { key } = await server.customer();
    const forwarded = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });
    const running = ['198.51.100.1', '198.51.100.1', '198.51.100.2'].map((address) =>
      transcribe(server, { key, headers: forwarded(address) }),
    );
    await server.engine.untilRunning(3);
    const refused = await call(server, '/healthz', { headers: forwarded('198.51.100.1') });
    expect(refused.status).to.equal(429);
    expect(refused.error).to.include({ code: 'rate_limited' });
    expect(refused.headers.get('retry-after')).to.equal('1');
    const others = ['198.51.100.2', '9.9.9.9, 198.51.100.3'].map(forwarded);
    for (const headers of [...others, {}]) {
      expect((await call(server, '/healthz', { headers })).status).to.equal(200);
    }
    server.engine.release();
    expect((await Promise.all(running)).map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    const again = await call(server, '/healthz', { headers: forwarded('198.51.100.1') });
    expect(again.status).to.equal(200);
  });

  it('are not what a client says that nobody trusts', async () => {
    server = await TestServer.start({ settings: { maxConnectionsPerAddress: 1 } });
    const first = await open();
    const lie = get('/healthz', 'X-Forwarded-For: 198.51.100.9\r\n');
    expect([await statusOf(first, lie), await statusOf(first, lie)]).to.deep.equal([200, 200]);
    expect(await statusOf(await open(), lie)).to.equal(429);
  });
});

describe('AddressLimit', () => {
  it('counts an IPv6 network of 64 bits as one, and an IPv4 address however it is written', () => {
    const same = [
      ['2001:db8::1', '2001:0db8:0:0:ffff::', '2001:DB8:0:0:1:2:3:4'],
      ['fe80::1%eth0', 'fe80::2'],
      ['::ffff:10.0.0.1', '10.0.0.1'],
      ['::1', '0::2'],
    ];
    for (const [first = '', ...others] of same) {
      for (const other of others) {
        const limit = new AddressLimit(1);
        const release = limit.take(first)!;
        expect(limit.take(other), `${first} ${other}`).to.equal(null);
        release();
        expect(limit.take(other)).not.to.equal(null);
      }
    }
    const apart = new AddressLimit(1);
    for (const address of ['2001:db8::1', '2001:db8:0:1::1', '10.0.0.1', '10.0.0.2']) {
      expect(apart.take(address), address).not.to.equal(null);
    }
  });
});
