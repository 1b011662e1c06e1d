/** What a client may make the server hold and do once its WebSocket is open. */
import { expect } from 'chai';
import { MOST_SOCKET_MESSAGE_BYTES } from '../../../src/http/websocket/connection.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { call, transcribe } from '../../support/requests.js';
import { bearer, TestServer, type Customer, type TestServerOptions } from '../../support/server.js';
import { SocketClient } from '../../support/socket-client.js';
import { until } from '../../support/until.js';

const REALTIME = '/v1/realtime?intent=transcription';
const LISTEN = '/v1/listen?encoding=linear16&sample_rate=16000';

describe('an open WebSocket', () => {
  let server: TestServer;
  let customer: Customer;

  const start = async (options: TestServerOptions = {}): Promise<void> => {
    server = await TestServer.start(options);
    customer = await server.customer();
  };
  afterEach(() => server.dispose());

  const open = (path: string, options: object = {}): Promise<SocketClient> =>
    SocketClient.connect(server.url + path, [], { headers: bearer(customer.key), ...options });
  const linesOf = (route: string) => server.logs.filter((line) => line['route'] === route);

  it('is closed by 1009 for a message over the limit, and takes one of the limit', async () => {
    const timers = new ManualTimers();
    await start({ timers });
    const client = await open(REALTIME);
    await client.next('session.created');
    const { pending: others } = timers;
    client.send({ type: 'input_audio_buffer.append', audio: 'A'.repeat(15 * 2 ** 20 + 4) });
    expect(await client.next('error')).to.have.nested.property('error.param', 'event.audio');
    // The next is read once this one is paid for; the client is pinged meanwhile.
    await until(() => timers.pending > others);
    timers.pass(16_000);
    client.socket.send(Buffer.alloc(MOST_SOCKET_MESSAGE_BYTES, 'A'));
    await until(() => client.of('error').length === 2);
    await until(() => timers.pending > others);
    timers.pass(16_000);
    client.socket.send(Buffer.alloc(MOST_SOCKET_MESSAGE_BYTES + 1, 'A'));
    expect((await client.untilClosed()).code).to.equal(1009);
    const other = await open(LISTEN);
    other.socket.send(Buffer.alloc(MOST_SOCKET_MESSAGE_BYTES + 1));
    expect((await other.untilClosed()).code).to.equal(1009);
  });

  it('is cut when its client reads nothing', async () => {
    await start();
    const client = await open(REALTIME);
    await client.next('session.created');
    client.socket.pause();
    const transcription = { prompt: '😀'.repeat(500) };
    const update = { type: 'session.update', session: { audio: { input: { transcription } } } };
    for (let i = 0; i < 20_000 && linesOf('/v1/realtime').length === 0; i++) {
      client.send(update);
      if (i % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await until(() => linesOf('/v1/realtime').length === 1);
    client.socket.resume();
    expect((await client.untilClosed()).code).to.equal(1006);
    // All that the kernel and the server held of its answers.
    expect(client.of('session.updated').length).to.be.below(20_000);
  });

  it("of ten thousand events at once leaves another client's clip alone", async () => {
    await start();
    const client = await open(REALTIME);
    await client.next('session.created');
    for (let i = 0; i < 10_000; i++) client.send({ type: 'input_audio_buffer.clear' });
    await client.next('input_audio_buffer.cleared');
    const other = await server.customer();
    expect((await transcribe(server, { key: other.key })).status).to.equal(200);
    expect(client.of('input_audio_buffer.cleared').length).to.be.below(10_000);
    client.socket.terminate();
  });

  it('answers all of five thousand events, in their order, a thousand a second', async () => {
    const timers = new ManualTimers();
    await start({ timers });
    const client = await open(REALTIME);
    for (let i = 0; i < 5000; i++) client.send({ type: 'none', event_id: `${i}` });
    const clock = setInterval(() => timers.pass(1000), 1);
    await until(() => client.of('error').length === 5000);
    clearInterval(clock);
    const ids = client.of('error').map(({ error }) => (error as { event_id: string }).event_id);
    expect(ids).to.deep.equal(Array.from({ length: 5000 }, (_, index) => `${index}`));
    expect(timers.now()).to.be.at.least(4900);
    client.close();
  });

  it('is read again once its refused messages are paid for: a mebibyte a second, two of an account', async () => {
    const timers = new ManualTimers();
    await start({ timers });
    const message = { type: 'input_audio_buffer.append', audio: `${'A'.repeat(2 ** 20)}%` };
    const clients = [await open(REALTIME), await open(REALTIME), await open(REALTIME), await open(REALTIME)];
    for (const client of clients) await client.next('session.created');
    const { pending: others } = timers;
    for (const client of clients) for (let n = 0; n < 3; n++) client.send(message);
    const answered: number[] = [];
    for (let second = 0; second < 4; second++) {
      // Each waits.
      await until(() => timers.pending === others + clients.length);
      await until(() => clients.flatMap((client) => client.of('error')).length >= clients.length + 2 * second);
      answered.push(clients.flatMap((client) => client.of('error')).length);
      timers.pass(1001);
    }
    expect(answered).to.deep.equal([4, 6, 8, 10]);
    for (const client of clients) client.socket.terminate();
  });

  it('answers a thousand small wrong events in a second: they cost no pause', async () => {
    const timers = new ManualTimers();
    await start({ timers });
    const client = await open(REALTIME);
    for (let i = 0; i < 1000; i++) client.send({ type: 'none', about: 'x'.repeat(1000) });
    for (let spans = 1; spans <= 10; spans++) {
      await until(() => client.of('error').length >= 100 * spans);
      if (spans < 10) timers.pass(100);
    }
    expect(timers.now()).to.equal(900);
    client.close();
  });

  it('pays for what surrounds audio, and not for audio', async () => {
    const timers = new ManualTimers();
    await start({ timers });
    const client = await open(REALTIME);
    await client.next('session.created');
    const { pending: others } = timers;
    const append = { type: 'input_audio_buffer.append', audio: Buffer.alloc(48_000).toString('base64') };
    for (let n = 0; n < 5; n++) client.send(append);
    client.send({ type: 'input_audio_buffer.clear' });
    await client.next('input_audio_buffer.cleared');
    client.send({ ...append, about: 'x'.repeat(64_000) });
    await until(() => timers.pending > others);
    client.close();
  });

  it('is pinged, and cut when no pong comes', async () => {
    const timers = new ManualTimers();
    await start({ timers });
    let pings = 0;
    const client = await open(REALTIME);
    client.socket.on('ping', () => (pings += 1));
    const silent = await open(REALTIME, { autoPong: false });
    await Promise.all([client.next('session.created'), silent.next('session.created')]);
    timers.pass(20_000);
    await until(() => pings === 1);
    // The pong is there before the next look.
    const echo = client.events.length;
    client.send({ type: 'input_audio_buffer.clear' });
    await client.next('input_audio_buffer.cleared', echo);
    timers.pass(20_000);
    expect((await silent.untilClosed()).code).to.equal(1006);
    await until(() => pings === 2);
    expect(client.closed).to.equal(null);
    client.close();
  });

  it('is closed by 1008 when its key is revoked, in either protocol, with audio or without', async () => {
    await start();
    const speaking = await open(LISTEN);
    speaking.socket.send(Buffer.alloc(3200));
    const silent = [await open(LISTEN), await open(REALTIME)];
    await until(async () => (await server.balance(customer)) === 99);
    const path = `/api/v1/keys/${customer.key.id}`;
    await call(server, path, { method: 'DELETE', headers: bearer(customer.managementKey) });
    for (const client of [speaking, ...silent]) expect((await client.untilClosed()).code).to.equal(1008);
  });

  for (const path of [LISTEN, REALTIME]) {
    const speak = (client: SocketClient, seconds: number): void => {
      const audio = Buffer.alloc(seconds * 48_000);
      if (path === LISTEN) client.socket.send(audio);
      else client.send({ type: 'input_audio_buffer.append', audio: audio.toString('base64') });
    };

    it(`is closed by the code of why its session ends: ${path}`, async () => {
      await start({ settings: { maxLiveSeconds: 5 } });
      const longest = await open(path);
      speak(longest, 6);
      expect((await longest.untilClosed()).code).to.equal(1000);
      const poor = await server.customer(1);
      const headers = bearer(poor.key);
      const clients = [await open(path, { headers }), await open(path, { headers })];
      for (const client of clients) speak(client, 1);
      await until(() => clients.some(({ closed }) => closed !== null));
      expect(clients.map(({ closed }) => closed?.code)).to.have.members([1008, undefined]);
      const closing = server.close(60_000);
      await until(() => clients.every(({ closed }) => closed !== null));
      expect(clients.map(({ closed }) => closed?.code)).to.have.members([1008, 1001]);
      await closing;
    });
  }
});
