/** Wyoming's port with the real engine: the order of events of Home Assistant, money, and clients that misbehave. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import type { SpeechEngine } from '../../../src/engine/types.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { frameBytes, WyomingReader, type WyomingFrame } from '../../../src/http/wyoming/frames.js';
import { pieces, spokenPcm } from '../../support/live-audio.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { bearer, TestServer } from '../../support/server.js';
import { pcmOfSilence } from '../../support/speech.js';
import { until } from '../../support/until.js';

const FORMAT = { rate: 16_000, width: 2, channels: 1 };
const TEXT = 'Hello Emma, this is Laura.';

class WyomingClient {
  readonly frames: WyomingFrame[] = [];
  isClosed = false;

  private constructor(readonly socket: Socket) {
    const reader = new WyomingReader();
    socket.on('data', (bytes) => this.frames.push(...reader.push(bytes)));
    socket.on('error', () => undefined);
    socket.on('close', () => (this.isClosed = true));
  }

  static async connect(port: number): Promise<WyomingClient> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new WyomingClient(socket);
  }

  send(type: string, data: object = {}): void {
    this.socket.write(frameBytes(type, data));
  }

  /** As Python's library writes it: the data behind the header. */
  sendAudio(samples: Buffer, format: object = FORMAT): void {
    const data = Buffer.from(JSON.stringify(format));
    const lengths = { data_length: data.length, payload_length: samples.length, version: '1.7.2' };
    const header = Buffer.from(`${JSON.stringify({ type: 'audio-chunk', ...lengths })}\n`);
    this.socket.write(Buffer.concat([header, data, samples]));
  }

  speak(pcm: Buffer): void {
    this.send('audio-start', FORMAT);
    for (const piece of pieces(pcm, 2048)) this.sendAudio(piece);
    this.send('audio-stop');
  }

  get types(): string[] {
    return this.frames.map(({ type }) => type);
  }

  async next(type: string): Promise<WyomingFrame> {
    await until(() => this.types.includes(type) || this.isClosed, `${type}; so far: ${this.types.join()}`);
    const frame = this.frames.find((one) => one.type === type);
    if (frame === undefined) throw new Error(`Closed before ${type}: ${this.types.join()}`);
    return frame;
  }

  async untilClosed(): Promise<WyomingFrame | undefined> {
    await until(() => this.isClosed, 'the connection is closed');
    return this.frames.at(-1);
  }
}

describe("Wyoming's port", () => {
  let server: TestServer<SpeechEngine>;
  let accountId: string;
  let keyId: string;
  let client: WyomingClient;

  const key = async (ledger: Ledger): Promise<string> => {
    const account = await ledger.accounts.create({ email: 'home@example.com' });
    accountId = account.id;
    await ledger.credits.grant({ accountId, amount: 2 });
    const issued = await ledger.keys.create({ accountId, name: 'home', scopes: [] });
    keyId = issued.id;
    return issued.rawKey;
  };
  const balance = async (): Promise<number> => (await server.ledger.credits.balance(accountId)).balance;

  beforeEach(async () => {
    server = await TestServer.start({
      engine: await loadRealEngine({ slots: 1 }),
      wyoming: key,
      settings: { maxConnectionsPerAddress: 3 },
    });
    client = await WyomingClient.connect(server.wyomingPort);
  });
  afterEach(async () => {
    client.socket.destroy();
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
  });

  it('describes its models, and answers a ping', async () => {
    client.send('describe');
    client.send('ping', { text: 'here' });
    const { data } = await client.next('info');
    const [program] = data['asr'] as [{ models: { name: string; languages: string[] }[] }];
    expect(program).to.include({ name: 'verbatim', installed: true, supports_transcript_streaming: true });
    expect(program.models[0]).to.include({ name: 'verbatim-small', installed: true });
    expect(program.models[0]!.languages).to.include('en');
    for (const none of ['tts', 'handle', 'intent', 'wake']) expect(data[none]).to.deep.equal([]);
    expect((await client.next('pong')).data).to.deep.equal({ text: 'here' });
    expect(await balance()).to.equal(2);
  });

  it("serves Home Assistant's order of events, and charges the started minute", async () => {
    client.send('transcribe', { name: null, language: 'en-US' });
    client.speak(spokenPcm());
    const { data } = await client.next('transcript');
    expect(data).to.deep.equal({ text: TEXT, language: 'en' });
    await client.next('transcript-stop');
    expect(client.types).to.deep.equal(['transcript-start', 'transcript-chunk', 'transcript', 'transcript-stop']);
    expect(await balance()).to.equal(1);
    // The connection serves the next utterance, too.
    client.frames.length = 0;
    client.speak(Buffer.concat([spokenPcm({ silenceSeconds: 2 }), spokenPcm()]));
    expect((await client.next('transcript')).data['text']).to.equal(`${TEXT} ${TEXT}`);
    const chunks = client.frames.filter(({ type }) => type === 'transcript-chunk').map(({ data: { text } }) => text);
    expect(chunks).to.deep.equal([TEXT, ` ${TEXT}`]);
  });

  it('answers silence with an empty text', async () => {
    client.speak(pcmOfSilence(1));
    expect((await client.next('transcript')).data['text']).to.equal('');
  });

  it('reads what a client sends that closes its side behind it', async () => {
    client.speak(spokenPcm());
    client.socket.end();
    expect((await client.next('transcript')).data['text']).to.equal(TEXT);
    expect((await client.untilClosed())?.type).to.equal('transcript-stop');
  });

  const REFUSED: Record<string, [code: string, send: () => void]> = {
    'what is no frame': ['invalid_request', () => client.socket.write('GET / HTTP/1.1\n')],
    'a payload that is too long': [
      'invalid_request',
      () => client.socket.write('{"type": "audio-chunk", "payload_length": 99999999}\n'),
    ],
    'audio of another width': ['invalid_request', () => client.send('audio-start', { ...FORMAT, width: 4 })],
    'audio that changes its format': [
      'invalid_request',
      () => {
        client.send('audio-start', FORMAT);
        client.sendAudio(Buffer.alloc(640), { ...FORMAT, rate: 8000 });
      },
    ],
    'two beginnings': [
      'invalid_request',
      () => {
        client.send('audio-start', FORMAT);
        client.send('audio-start', FORMAT);
      },
    ],
    'an end without audio': ['invalid_request', () => client.send('audio-stop')],
    'a model that is not installed': [
      'unsupported_model',
      () => {
        client.send('transcribe', { name: 'no-such-model' });
        client.send('audio-start', FORMAT);
      },
    ],
    'a language that the model does not know': [
      'unsupported_language',
      () => {
        client.send('transcribe', { language: 'ja' });
        client.send('audio-start', FORMAT);
      },
    ],
  };
  for (const [what, [code, send]] of Object.entries(REFUSED)) {
    it(`refuses ${what}, and closes`, async () => {
      send();
      const last = await client.untilClosed();
      expect(last).to.include({ type: 'error' });
      expect(last!.data['code']).to.equal(code);
      expect(await balance()).to.equal(2);
    });
  }

  const revoke = async (): Promise<void> => {
    const managing = await server.ledger.keys.create({ accountId, name: 'managing', scopes: ['keys:write'] });
    const url = `${server.url}/api/v1/keys/${keyId}`;
    const { ok } = await fetch(url, { method: 'DELETE', headers: bearer(managing) });
    expect(ok).to.equal(true);
  };

  it('takes no audio of a key that was revoked', async () => {
    await revoke();
    client.send('audio-start', FORMAT);
    expect((await client.untilClosed())!.data['code']).to.equal('invalid_api_key');
  });

  it('ends a session when its key is revoked', async () => {
    client.send('audio-start', FORMAT);
    client.sendAudio(pcmOfSilence(0.5));
    await until(async () => (await balance()) === 1);
    await revoke();
    expect((await client.untilClosed())!.data['code']).to.equal('invalid_api_key');
  });

  it('takes no audio without credits', async () => {
    for (const left of [1, 0]) {
      client.frames.length = 0;
      client.speak(pcmOfSilence(0.5));
      await client.next('transcript');
      expect(await balance()).to.equal(left);
    }
    client.send('audio-start', FORMAT);
    expect((await client.untilClosed())!.data['code']).to.equal('insufficient_credits');
  });

  it('ends a session when the server drains', async () => {
    client.send('audio-start', FORMAT);
    client.sendAudio(pcmOfSilence(0.5));
    await until(async () => (await balance()) === 1);
    const closing = server.close(5000);
    expect((await client.untilClosed())!.data['code']).to.equal('shutting_down');
    await closing;
  });

  it('takes so many connections of an address', async () => {
    const others = [await WyomingClient.connect(server.wyomingPort), await WyomingClient.connect(server.wyomingPort)];
    const last = await WyomingClient.connect(server.wyomingPort);
    expect((await last.untilClosed())!.data['code']).to.equal('rate_limited');
    for (const other of others) other.socket.destroy();
  });

  it('cuts a client that reads no answers', async () => {
    client.socket.pause();
    const many = Buffer.concat(Array.from({ length: 100 }, () => frameBytes('ping', { text: 'x'.repeat(9000) })));
    for (let i = 0; i < 100 && !client.socket.destroyed; i++) client.socket.write(many);
    client.socket.on('error', () => undefined);
    await until(() => client.socket.destroyed || client.socket.errored !== null, 'it is cut');
  });
});
