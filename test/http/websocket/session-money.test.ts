/** Own records of random sessions of all protocols, which end in every way: what is charged is what was received. */
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { pieces } from '../../support/live-audio.js';
import { Mulberry32 } from '../../support/random.js';
import { fakeTranslator } from '../../support/fake-translator.js';
import { call } from '../../support/requests.js';
import { SEED } from '../../support/seed.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { SocketClient } from '../../support/socket-client.js';
import { until } from '../../support/until.js';

const SESSIONS = 200;
const AT_ONCE = 40;
/** Those that cross a minute, which takes a while: audio is worked on at four times real time. */
const LONG = 16;
const MINUTE = 60;
const ENDS = ['finish', 'close', 'hang up', 'revoke', 'drain'] as const;

interface Book {
  customer: Customer;
  credits: number;
  /** Credits of a started minute. */
  price: number;
  end: (typeof ENDS)[number];
  /** Seconds that were worked on for certain, and that were sent in all. */
  worked: number;
  sent: number;
}

describe('the money of 200 random live sessions', () => {
  let server: TestServer;

  before(async () => {
    const settings = { maxConnectionsPerAddress: 1000, translationCreditsPerMinute: 2 };
    server = await TestServer.start({ settings, translator: fakeTranslator((text) => text) });
    Object.assign(server.engine, { slots: 1000, realTimeFactor: 0.001 });
  });
  after(() => server.dispose());

  const random = new Mulberry32(SEED);
  // Full scale in every encoding: noise is speech to a level.
  const noise = random.bytes(80 * 48_000);

  /** One protocol's words. */
  interface Protocol {
    /** Bytes of a second. */
    rate: number;
    price: number;
    connect(key: string): Promise<SocketClient>;
    audio(client: SocketClient, bytes: Buffer): void;
    /** Resolves when all audio before was worked on; null: only its end shows that. */
    settle: ((client: SocketClient) => Promise<void>) | null;
    /** Ends the session after all its audio; null: nothing does. */
    finish: string | null;
  }

  const deepgram: Protocol = {
    ...{ rate: 8000, price: 1, finish: 'CloseStream' },
    connect: (key) =>
      SocketClient.connect(`${server.url}/v1/listen?encoding=mulaw&sample_rate=8000&endpointing=false`, [], {
        headers: { authorization: `Token ${key}` },
      }),
    audio: (client, bytes) => client.socket.send(bytes),
    settle: async (client) => {
      client.send({ type: 'Finalize' });
      const isDone = (): boolean => client.of('Results').some((result) => result['from_finalize'] === true);
      await until(() => isDone() || client.closed !== null);
    },
  };
  const realtime: Protocol = {
    ...{ rate: 8000, price: 1, finish: null },
    connect: async (key) => {
      const client = await SocketClient.connect(`${server.url}/v1/realtime?intent=transcription`, [], {
        headers: bearer(key),
      });
      const input = { format: { type: 'audio/pcmu' }, turn_detection: null };
      client.send({ type: 'session.update', session: { audio: { input } } });
      await client.next('session.updated');
      return client;
    },
    audio: (client, bytes) => client.send({ type: 'input_audio_buffer.append', audio: bytes.toString('base64') }),
    settle: async (client) => {
      client.send({ type: 'input_audio_buffer.commit' });
      const isDone = (): boolean => client.of('input_audio_buffer.committed').length + client.of('error').length > 0;
      await until(() => isDone() || client.closed !== null);
    },
  };

  const translation: Protocol = {
    ...{ rate: 48_000, price: 3, finish: 'session.close', settle: null },
    connect: async (key) => {
      const client = await SocketClient.connect(`${server.url}/v1/realtime/translations`, [], { headers: bearer(key) });
      client.send({ type: 'session.update', session: { audio: { output: { language: 'de' } } } });
      await client.next('session.updated');
      return client;
    },
    audio: (client, bytes) =>
      client.send({ type: 'session.input_audio_buffer.append', audio: bytes.toString('base64') }),
  };

  /** Clients of Deepgram's protocol. */
  const quiet = new Set<SocketClient>();

  async function session(index: number): Promise<Book> {
    const isLong = index < LONG;
    const isPoor = isLong && index % 4 === 0;
    const isDrained = index >= SESSIONS - 10;
    const protocols = isDrained ? [deepgram, realtime] : [deepgram, realtime, translation];
    const protocol = protocols[index % protocols.length]!;
    const { price, rate } = protocol;
    const credits = (isPoor ? 1 : 10) * price;
    const customer = await server.customer(credits);
    const end = isDrained ? 'drain' : random.pick(ENDS.slice(0, 4));
    const book: Book = { customer, credits, price, end, worked: 0, sent: 0 };
    const client = await protocol.connect(customer.key.rawKey);
    if (protocol === deepgram) quiet.add(client);
    const seconds = isLong ? 55 + random.below(15) : random.below(4) === 0 ? 0 : random.next() * 8;
    const bytes = noise.subarray(0, 2 * Math.round((seconds * rate) / 2));
    const pieceBytes = 1 + random.below(isLong ? 5 * rate : 2.5 * rate);
    for (const piece of pieces(bytes, pieceBytes)) protocol.audio(client, piece);
    book.sent = bytes.length / rate;
    // A commit of less than 100 ms is refused before the audio is worked on.
    if (protocol.settle !== null && (end === 'drain' || (bytes.length > rate / 10 && random.below(3) > 0))) {
      await protocol.settle(client);
      // The end of a balance closes it when all that is paid for was worked on.
      const wasWorked = client.closed === null || client.closed.code === 1008;
      if (bytes.length > rate / 10 && wasWorked) book.worked = book.sent;
    }
    if (random.below(3) === 0 && end !== 'drain') {
      protocol.audio(client, noise.subarray(0, rate));
      book.sent += 1;
    }
    if (end !== 'drain') await finish(client, { book, protocol });
    return book;
  }

  async function finish(client: SocketClient, { book, protocol }: { book: Book; protocol: Protocol }): Promise<void> {
    const socket = (client.socket as unknown as { _socket: Socket })._socket;
    if (book.end === 'finish' && protocol.finish !== null) {
      client.send({ type: protocol.finish });
      const { code } = await client.untilClosed();
      if (code === 1000) book.worked = book.sent;
    } else if (book.end === 'hang up') {
      // Half a frame: 126 says that two bytes of length follow.
      socket.write(Buffer.from([0x82, 0xfe, 0x10]));
      socket.destroy();
      await client.untilClosed();
    } else if (book.end === 'revoke') {
      const path = `/api/v1/keys/${book.customer.key.id}`;
      await call(server, path, { method: 'DELETE', headers: bearer(book.customer.managementKey) });
      client.close();
      await client.untilClosed();
    } else {
      client.close();
      await client.untilClosed();
    }
  }

  const minutesOf = async ({ customer }: Book): Promise<number> => {
    const days = await server.ledger.history.usageByDay(customer.account.id, 2);
    return days.reduce((sum, day) => sum + day.minutes, 0);
  };
  const gauge = async (name: string): Promise<number> => {
    const { text } = await call(server, '/metrics');
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };

  it('is what was received, by started minutes', async function () {
    this.timeout(300_000);
    const records: Book[] = [];
    // Audio is worked off, and others are waited for, for longer than a client may be silent.
    const alive = setInterval(() => {
      for (const client of quiet) if (client.closed === null) client.send({ type: 'KeepAlive' });
    }, 2000);
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < SESSIONS) records.push(await session(next++));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    await until(async () => (await gauge('verbatim_live_sessions')) === 10);
    expect(await gauge('verbatim_live_waiting_bytes')).to.equal(0);
    clearInterval(alive);
    await server.close(60_000);
    expect(server.engine.running).to.equal(0);
    expect(await server.ledger.audit()).to.deep.equal([]);
    expect(records).to.have.length(SESSIONS);
    let exact = 0;
    for (const book of records) {
      const minutes = await minutesOf(book);
      const what = JSON.stringify({ ...book, customer: book.customer.account.email, SEED });
      const [least, most] = [book.worked, book.sent].map((seconds) => Math.ceil(seconds / MINUTE - 1e-9));
      // A balance ends a session: what it does not pay for is not worked on.
      const payable = book.credits / book.price;
      expect(minutes, what).to.be.within(Math.min(payable, least!), Math.min(payable, most!));
      if (least === most) exact += 1;
      const { balance } = await server.ledger.credits.balance(book.customer.account.id);
      expect(balance, what).to.equal(book.credits - minutes * book.price);
    }
    expect(exact).to.be.above(SESSIONS / 2);
    expect(new Set(records.map(({ end }) => end)).size).to.equal(ENDS.length);
  });
});
