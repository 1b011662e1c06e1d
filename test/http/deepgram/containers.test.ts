/** Deepgram's live protocol with streams in containers, which the confined ffmpeg decodes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { isAlive, liveDecodersOf } from '../../support/child-processes.js';
import { encoded, packetsOf, STREAMS } from '../../support/encoded-audio.js';
import { spokenPcm } from '../../support/live-audio.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { Mulberry32 } from '../../support/random.js';
import { SEED } from '../../support/seed.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { socketRefusal, SocketClient } from '../../support/socket-client.js';
import { pcmOfSilence } from '../../support/speech.js';
import { until } from '../../support/until.js';

const UNDECODABLE = { code: 1008, reason: 'DATA-0000' };

describe("Deepgram's live protocol with containers", () => {
  let server: TestServer;
  let customer: Customer;
  const pcm = spokenPcm();
  const seconds = pcm.length / 32_000;
  const webm = encoded(pcm, STREAMS[0]!.args);
  const random = new Mulberry32(SEED);

  before(async () => {
    server = await TestServer.start({ settings: { maxLiveSessions: 20 } });
  });
  after(() => server.dispose());
  beforeEach(async () => {
    customer = await server.customer();
  });
  afterEach('no process is left', async () => {
    await until(() => liveDecodersOf().length === 0);
    expect(await server.ledger.audit()).to.deep.equal([]);
  });

  const url = (query: string, to = server): string => `${to.url}/v1/listen?${query}`;
  const open = (query = '', to = server, { key } = customer): Promise<SocketClient> =>
    SocketClient.connect(url(`punctuate=true&${query}`, to), [], { headers: bearer(key) });
  const sendCut = (client: SocketClient, stream: Buffer): void => {
    for (let at = 0; at < stream.length;) {
      const length = 1 + Math.floor(random.next() * 4000);
      client.socket.send(stream.subarray(at, at + length));
      at += length;
    }
  };
  const finished = async (client: SocketClient): Promise<void> => {
    client.send({ type: 'CloseStream' });
    expect((await client.untilClosed()).code, JSON.stringify(client.events.at(-1))).to.equal(1000);
  };
  const transcripts = (client: SocketClient): string[] =>
    client.of('Results').flatMap(({ channel, is_final: isFinal }) => {
      const { alternatives } = channel as { alternatives: { transcript: string }[] };
      const texts = alternatives.map(({ transcript }) => transcript);
      return isFinal === true ? texts.filter((text) => text !== '') : [];
    });

  for (const [index, { name, args }] of STREAMS.entries()) {
    it(`takes ${name}`, async () => {
      const client = await open(['', 'encoding=ogg-opus', 'encoding=flac'][index % 3]);
      sendCut(client, encoded(pcm, args));
      await finished(client);
      expect(transcripts(client)).to.deep.equal(['Hello, World.']);
      const metadata = client.events.at(-1)!;
      expect(metadata).to.include({ type: 'Metadata', channels: 1 });
      expect(metadata['duration']).to.be.closeTo(seconds, 0.12);
      expect(await server.balance(customer)).to.equal(99);
    });
  }

  it('takes Opus packets, one in a message, and Opus in Ogg under the same name', async () => {
    const ogg = encoded(pcm, ['-c:a', 'libopus', '-f', 'ogg']);
    for (const messages of [packetsOf(ogg).slice(2), [ogg.subarray(0, 100), ogg.subarray(100)]]) {
      const client = await open('encoding=opus&sample_rate=16000&channels=1');
      for (const message of messages) client.socket.send(message);
      await finished(client);
      expect(transcripts(client)).to.deep.equal(['Hello, World.']);
    }
    const none = await open('encoding=opus');
    none.socket.send(Buffer.from('ff', 'hex'));
    expect(await none.untilClosed()).to.deep.equal(UNDECODABLE);
  });

  it('answers while the stream goes on, and Finalize with all of what came before it', async () => {
    const spoken = encoded(Buffer.concat([pcm, pcmOfSilence(3)]), STREAMS[0]!.args);
    const client = await open('endpointing=300');
    client.socket.send(spoken);
    await until(() => transcripts(client).length === 1);
    expect(client.of('Results').some(({ speech_final: isEnd }) => isEnd === true)).to.equal(true);
    await finished(client);
    const manual = await open('endpointing=false');
    manual.socket.send(webm);
    manual.send({ type: 'Finalize' });
    await until(() => transcripts(manual).length === 1);
    const [result] = manual.of('Results');
    expect(result).to.include({ from_finalize: true });
    // The last frame is in the decoder until it knows that nothing follows.
    expect(result!['duration']).to.be.closeTo(seconds, 0.2);
    await finished(manual);
  });

  it('closes with DATA-0000 what cannot be decoded, and reports what came before', async () => {
    const garbage = Buffer.alloc(100_000).map(() => Math.floor(random.next() * 256));
    for (const stream of [
      ...[Buffer.from('this is no audio at all'), Buffer.from('{"type": "none"}'), Buffer.from('x')],
      ...[Buffer.concat([Buffer.from('fLaC'), garbage]), Buffer.concat([webm.subarray(0, 60), garbage])],
    ]) {
      const client = await open();
      client.socket.send(stream);
      client.send({ type: 'CloseStream' });
      expect(await client.untilClosed()).to.deep.equal(UNDECODABLE);
      const { type, description } = client.events.at(-1)!;
      expect(type).to.equal('Error');
      expect(description).to.match(/^\S.{10,}/);
    }
    expect(await server.balance(customer)).to.equal(100);
    const cut = await open();
    cut.socket.send(webm.subarray(0, webm.length - 500));
    await finished(cut);
    expect(transcripts(cut)).to.deep.equal(['Hello, World.']);
    const empty = await open();
    await finished(empty);
    expect(empty.events.at(-1)).to.include({ type: 'Metadata', duration: 0 });
  });

  it('reports what was decoded before its decoder was killed', async () => {
    const client = await open();
    client.socket.send(webm);
    await until(() => liveDecodersOf().length === 1);
    await until(async () => (await server.balance(customer)) === 99);
    // The last of its samples is on the way.
    await new Promise((resolve) => setTimeout(resolve, 300));
    process.kill(liveDecodersOf()[0]!.pid, 'SIGKILL');
    expect(await client.untilClosed()).to.deep.equal({ code: 1011, reason: 'overloaded' });
    expect(transcripts(client)).to.deep.equal(['Hello, World.']);
  });

  it('kills the decoder of a client that leaves, that may not go on, and of a session that is too long', async () => {
    const leaving = await open();
    leaving.socket.send(webm.subarray(0, 2000));
    await until(() => liveDecodersOf().length === 1);
    const pid = liveDecodersOf()[0]!.pid;
    leaving.socket.terminate();
    await until(() => !isAlive(pid));

    const revoked = await open();
    revoked.socket.send(webm.subarray(0, 2000));
    await until(() => liveDecodersOf().length === 1);
    await server.ledger.keys.revoke(customer.account.id, customer.key.id);
    expect((await revoked.untilClosed()).code).to.equal(1008);

    const short = await TestServer.start({ settings: { maxLiveSeconds: 1 } });
    const client = await open('', short, await short.customer());
    client.socket.send(webm);
    expect(await client.untilClosed()).to.deep.equal({ code: 1000, reason: 'audio_too_long' });
    await until(() => liveDecodersOf().length === 0);
    await short.dispose();
  });

  it('ends its utterance and its decoder when the server stops, and when the balance ends', async () => {
    const stopping = await TestServer.start();
    const client = await open('endpointing=false', stopping, await stopping.customer());
    client.socket.send(webm);
    await until(() => liveDecodersOf().length === 1);
    const closed = stopping.close(5000);
    expect((await client.untilClosed()).code).to.equal(1001);
    await closed;
    await until(() => liveDecodersOf().length === 0);
    await stopping.dispose();

    const timers = new ManualTimers();
    const hurried = await TestServer.start({ timers });
    const poor = await hurried.customer(1);
    const flood = await open('', hurried, poor);
    // Of 90 s in one short message, which is worked off for longer than a client may be silent.
    flood.socket.send(encoded(pcmOfSilence(90), ['-c:a', 'flac', '-f', 'flac']));
    await until(async () => (await hurried.balance(poor)) === 0);
    const clock = setInterval(() => timers.pass(20), 5);
    expect(await flood.untilClosed()).to.deep.equal({ code: 1008, reason: 'insufficient_credits' });
    clearInterval(clock);
    await hurried.dispose();
  });

  it('refuses more decoders than the server may have, before the upgrade, and gives places back', async () => {
    const few = await TestServer.start({ settings: { maxLiveSessions: 20, maxLiveDecoders: 12 } });
    // Its machine would carry more.
    few.engine.realTimeFactor = 0.0001;
    const owner = await few.customer();
    const clients = await Promise.all(Array.from({ length: 12 }, () => open('', few, owner)));
    const { status, body } = await socketRefusal(url('', few), { headers: bearer(owner.key) });
    expect(status).to.equal(503);
    expect((JSON.parse(body) as { err_msg: string }).err_msg).to.match(/^The server decodes 12 live streams/);
    // Samples are taken all the same.
    await finished(await open('encoding=linear16&sample_rate=16000', few, owner));
    await Promise.all(
      clients.map(async (client) => {
        sendCut(client, webm);
        await finished(client);
        expect(transcripts(client)).to.deep.equal(['Hello, World.']);
      }),
    );
    await until(async () => {
      const client = await open('', few, owner).catch(() => null);
      client?.close();
      return client !== null;
    });
    expect(await few.balance(owner)).to.equal(88);
    await few.dispose();
  });

  it('ends in any way at any time, and charges what was decoded', async () => {
    const many = await TestServer.start({ settings: { maxLiveDecoders: 8 } });
    many.engine.realTimeFactor = 0.0001;
    const streams = STREAMS.map(({ args }) => encoded(pcm, args));
    const ends: ((client: SocketClient) => void)[] = [
      (client) => client.send({ type: 'CloseStream' }),
      ({ socket }) => socket.terminate(),
      ({ socket }) => socket.close(),
      (client) => {
        client.send({ type: 'Finalize' });
        client.send({ type: 'CloseStream' });
      },
      ({ socket }) => socket.send(Buffer.alloc(0)),
    ];
    const one = async (number: number): Promise<void> => {
      const own = await many.customer(2);
      const client = await open(number % 3 === 0 ? 'encoding=opus' : '', many, own);
      const stream = streams[number % streams.length]!;
      const sent = Math.floor(random.next() * stream.length * 1.2);
      sendCut(client, stream.subarray(0, sent));
      ends[Math.floor(random.next() * ends.length)]!(client);
      await client.untilClosed();
      const charged = 2 - (await many.balance(own));
      expect(charged).to.be.oneOf([0, 1]);
      const last = client.events.at(-1);
      if (last?.type === 'Metadata') expect(charged).to.equal(Number(last['duration']) > 0 ? 1 : 0);
    };
    for (let round = 0; round < 3; round++) {
      await Promise.all(Array.from({ length: 8 }, (_, index) => one(round * 8 + index)));
      await until(() => liveDecodersOf().length === 0);
    }
    expect(await many.ledger.audit()).to.deep.equal([]);
    await many.dispose();
  });

  it('says what is missing where there is no ffmpeg', async () => {
    const bare = await TestServer.start({ ffmpeg: join(server.directory, 'none') });
    writeFileSync(join(server.directory, 'none'), 'no program');
    const client = await open('', bare, await bare.customer());
    client.socket.send(webm);
    expect(await client.untilClosed()).to.deep.equal(UNDECODABLE);
    expect(client.events.at(-1)!['description']).to.include('ffmpeg');
    await bare.dispose();
  });
});
