/**
 * What `@livekit/agents-plugin-deepgram` 1.9 sends and reads by its defaults, with the real engine. The plugin itself is
 * in test/slow/livekit.test.ts: it brings more than 100 MiB of its framework, WebRTC among it. Its query, its messages,
 * and what it does with the answers are written off its source.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { pieces, spokenPcm } from '../../support/live-audio.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { TestServer, type Customer } from '../../support/server.js';
import { SocketClient, socketRefusal, type SocketEvent } from '../../support/socket-client.js';
import { until } from '../../support/until.js';

const TEXT = 'Hello Emma, this is Laura.';
/** In the order of the plugin; of lists that are empty it sends nothing. */
const DEFAULTS =
  'model=nova-3&punctuate=true&smart_format=true&dictation=false&diarize=false&numerals=false&no_delay=true' +
  '&interim_results=true&encoding=linear16&vad_events=true&sample_rate=16000&channels=1&endpointing=25' +
  '&filler_words=false&profanity_filter=false&language=en-US&mip_opt_out=false';
/** 100 ms. */
const FRAME_BYTES = 3200;

/** What the plugin makes of the messages. */
type PluginEvent = 'start of speech' | 'end of speech' | { interim: string } | { final: string };

class Plugin {
  readonly events: PluginEvent[] = [];
  /** Messages that it would complain about. */
  readonly complaints: string[] = [];
  #isSpeaking = false;
  #read = 0;

  constructor(private readonly client: SocketClient) {}

  /** All that has come so far. */
  get finals(): string[] {
    this.#readAll();
    return this.events.flatMap((event) => (typeof event === 'object' && 'final' in event ? [event.final] : []));
  }

  get hasEnded(): boolean {
    this.#readAll();
    return this.events.at(-1) === 'end of speech';
  }

  #readAll(): void {
    for (; this.#read < this.client.events.length; this.#read++) this.#take(this.client.events[this.#read]!);
  }

  #take(message: SocketEvent): void {
    if (message.type === 'SpeechStarted') this.#start();
    else if (message.type === 'Results') this.#results(message);
    else if (message.type === 'UtteranceEnd') this.#end();
    else if (message.type !== 'Metadata') this.complaints.push(message.type);
  }

  #results({ metadata, is_final: isFinal, speech_final: isEnd, channel }: SocketEvent): void {
    expect((metadata as { request_id: string }).request_id)
      .to.be.a('string')
      .that.is.not.equal('');
    const [{ transcript, words, confidence }] = (channel as { alternatives: [Alternative] }).alternatives;
    expect(confidence).to.be.within(0, 1);
    // Its words are those of the transcript, which is formatted.
    expect(words.map((word) => word.punctuated_word).join(' ')).to.equal(transcript);
    for (const { start, end } of words) expect(start).to.be.at.most(end);
    if (transcript !== '') {
      this.#start();
      this.events.push(isFinal === true ? { final: transcript } : { interim: transcript });
    }
    if (isEnd === true) this.#end();
  }

  #start(): void {
    if (!this.#isSpeaking) this.events.push('start of speech');
    this.#isSpeaking = true;
  }

  #end(): void {
    if (this.#isSpeaking) this.events.push('end of speech');
    this.#isSpeaking = false;
  }
}

interface Alternative {
  transcript: string;
  confidence: number;
  words: { punctuated_word: string; start: number; end: number }[];
}

describe("LiveKit's plugin for Deepgram, by its defaults", function () {
  this.timeout(120_000);
  let server: TestServer<SpeechEngine>;
  let customer: Customer;

  before(async () => {
    server = await TestServer.start({ engine: await loadRealEngine({ slots: 1 }) });
    customer = await server.customer(10);
  });
  after(() => server.dispose());

  const headers = () => ({ authorization: `Token ${customer.key.rawKey}` });
  const open = (query = DEFAULTS): Promise<SocketClient> =>
    SocketClient.connect(`${server.url}/v1/listen?${query}`, [], { headers: headers() });

  it('transcribes an utterance that silence ends', async () => {
    const client = await open();
    const plugin = new Plugin(client);
    for (const frame of pieces(spokenPcm(), FRAME_BYTES)) {
      client.socket.send(frame);
      await sleep(100);
    }
    await until(() => plugin.hasEnded, 'the end of speech');
    expect(plugin.events[0]).to.equal('start of speech');
    expect(plugin.finals).to.deep.equal([TEXT]);
    client.send({ type: 'CloseStream' });
    expect(await client.untilClosed()).to.include({ code: 1000 });
    expect(plugin.complaints).to.deep.equal([]);
  });

  it('transcribes an utterance behind which it sends nothing, as it does in quiet', async () => {
    const client = await open();
    const plugin = new Plugin(client);
    for (const frame of pieces(spokenPcm({ silenceSeconds: 0 }), FRAME_BYTES)) client.socket.send(frame);
    // It says every five seconds that it is there.
    client.send({ type: 'KeepAlive' });
    await until(() => plugin.hasEnded, 'the end of speech');
    expect(plugin.finals).to.deep.equal([TEXT]);
    client.send({ type: 'CloseStream' });
    await client.untilClosed();
    expect(plugin.complaints).to.deep.equal([]);
  });

  it('gets the text of what it flushes', async () => {
    const client = await open();
    const plugin = new Plugin(client);
    for (const frame of pieces(spokenPcm({ silenceSeconds: 0 }), FRAME_BYTES)) client.socket.send(frame);
    client.send({ type: 'Finalize' });
    await until(() => plugin.finals.length > 0, 'a final transcript');
    expect(plugin.finals).to.deep.equal([TEXT]);
    client.send({ type: 'CloseStream' });
    await client.untilClosed();
    expect(plugin.complaints).to.deep.equal([]);
  });

  it('is refused by name what the server does not do, when it asks for it', async () => {
    const url = `${server.url}/v1/listen?${DEFAULTS.replace('numerals=false', 'numerals=true')}`;
    const { status, body } = await socketRefusal(url, { headers: headers() });
    expect(status).to.equal(400);
    expect(body).to.include('numerals');
  });
});
