/** A random session of OpenAI's protocol, and what the model says to it. */
import { expect } from 'chai';
import type { Mulberry32 } from '../random.js';
import { bearer } from '../server.js';
import { SocketClient } from '../socket-client.js';
import { until } from '../until.js';
import { leave, pauseSomehow, randomEnd, sendSomehow } from './random-client.js';
import { RandomSignal, type SignalFormat } from './random-signal.js';
import { RealtimeModel, type RealtimeNames, type SentClientEvent } from './realtime-model.js';

const BUFFER = 'input_audio_buffer';
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
/** Of audio; more is worked on at four times real time only. */
const MOST_SECONDS = 9;
const MOST_STEPS = 30;
const WATCHDOG_MS = 300_000;

const FORMATS: Readonly<Record<string, SignalFormat>> = {
  'audio/pcm': { encoding: 'linear16', sampleRate: 24_000, channels: 1 },
  'audio/pcmu': { encoding: 'mulaw', sampleRate: 8000, channels: 1 },
  'audio/pcma': { encoding: 'alaw', sampleRate: 8000, channels: 1 },
};
const BETA_FORMATS: Readonly<Record<string, string>> = {
  ...{ 'audio/pcm': 'pcm16', 'audio/pcmu': 'g711_ulaw', 'audio/pcma': 'g711_alaw' },
};

const NAMES: Readonly<Record<'current' | 'beta', RealtimeNames & { update: string }>> = {
  current: {
    ...{ update: 'session.update', created: 'session.created', updated: 'session.updated' },
    itemEvents: ['conversation.item.added', 'conversation.item.done'],
  },
  beta: {
    ...{ update: 'transcription_session.update', created: 'transcription_session.created' },
    ...{ updated: 'transcription_session.updated', itemEvents: ['conversation.item.created'] },
  },
};

/** Of `session.audio.input`, in the current names. */
interface Update {
  format?: string;
  turns?: object | null;
  transcription?: object | null;
}

export class RandomRealtimeSession {
  readonly #sent: SentClientEvent[] = [];
  readonly #isBeta: boolean;
  readonly #names: RealtimeNames & { update: string };
  readonly #isManual: boolean;
  #client!: SocketClient;
  #signal: RandomSignal;
  #bytes = 0;
  #events = 0;
  #hasCleared = false;
  #changesTurns = false;

  constructor(private readonly random: Mulberry32) {
    this.#isBeta = random.below(4) === 0;
    this.#names = NAMES[this.#isBeta ? 'beta' : 'current'];
    // Some end every turn themselves from first to last: of them all audio has its words.
    this.#isManual = random.below(4) === 0;
    this.#signal = new RandomSignal(random, FORMATS['audio/pcm']!);
  }

  /** Rejects where the model says no. */
  async run(url: string, key: string): Promise<void> {
    const headers = { ...bearer(key), ...(this.#isBeta ? { 'openai-beta': 'realtime=v1' } : {}) };
    this.#client = await SocketClient.connect(`${url}/v1/realtime?intent=transcription`, [], { headers });
    const end = randomEnd(this.random);
    try {
      await this.#client.next(this.#names.created);
      await this.#begin();
      for (let step = this.random.below(MOST_STEPS); step > 0; step--) await this.#step();
      if (end === 'finish') await this.#finish();
      else await leave(this.#client, end);
      this.#judge(end === 'finish');
    } finally {
      this.#client.socket.terminate();
    }
  }

  #judge(isFinished: boolean): void {
    const model = new RealtimeModel(this.#names, this.#sent);
    const { events } = this.#client;
    for (const [index, event] of events.entries()) {
      try {
        model.receive(event);
      } catch (cause) {
        const before = events.slice(Math.max(0, index - 12), index + 1).map((one) => JSON.stringify(one));
        throw new Error(`${(cause as Error).message}, in event ${index}:\n${before.join('\n')}`, { cause });
      }
    }
    if (!isFinished) return;
    const coversAll = this.#isManual && !this.#hasCleared && !this.#changesTurns;
    model.finish({ coversAll, seconds: this.#signal.secondsOf(this.#bytes) });
  }

  async #begin(): Promise<void> {
    if (this.random.below(3) === 0) {
      const format = this.random.pick(Object.keys(FORMATS));
      this.#signal = new RandomSignal(this.random, FORMATS[format]!);
      await this.#update({ format });
    }
    if (this.#isManual) await this.#update({ turns: null });
  }

  #step(): Promise<void> {
    const what = this.random.below(20);
    if (what < 10) return this.#audio();
    if (what < 12) return this.#send('commit', { type: `${BUFFER}.commit` });
    if (what === 12) return this.#clear();
    if (what < 15) return this.#wrong();
    if (what < 17) return this.#settings();
    return pauseSomehow(this.random);
  }

  async #audio(): Promise<void> {
    const left = this.#signal.bytesOf(MOST_SECONDS) - this.#bytes;
    const longest = this.random.pick([3, 700, 20_000, 100_000]);
    const bytes = Math.min(left, 1 + this.random.below(longest));
    if (bytes <= 0) return pauseSomehow(this.random);
    const audio = this.#signal.next(bytes).toString('base64');
    this.#bytes += bytes;
    await sendSomehow(this.#client, JSON.stringify({ type: `${BUFFER}.append`, audio }), this.random);
  }

  #clear(): Promise<void> {
    this.#hasCleared = true;
    return this.#send('clear', { type: `${BUFFER}.clear` });
  }

  #settings(): Promise<void> {
    const { random } = this;
    if (random.below(2) === 0) {
      const language = random.pick(['de', 'en', null, '']);
      const transcription =
        random.below(5) === 0 ? null : { language, prompt: random.pick(['', 'Names: Ann, Bob', null]) };
      return this.#update({ transcription });
    }
    if (this.#isManual && random.below(4) > 0) return this.#update({ turns: null });
    this.#changesTurns = true;
    return this.#update({
      turns: random.pick([
        null,
        { type: 'server_vad' },
        {
          type: 'server_vad',
          threshold: random.next(),
          silence_duration_ms: random.below(1500),
          prefix_padding_ms: 100,
        },
        { type: 'server_vad', threshold: null, silence_duration_ms: 300, prefix_padding_ms: random.below(1000) },
        { type: 'semantic_vad', eagerness: 'high' },
        { type: 'semantic_vad' },
      ]),
    });
  }

  #update(update: Update): Promise<void> {
    return this.#send('update', { type: this.#names.update, session: this.#session(update) });
  }

  #session({ format, turns, transcription }: Update): object {
    const own = (name: string, value: object | string | null | undefined): object =>
      value === undefined ? {} : { [name]: value };
    if (this.#isBeta) {
      return {
        ...own('input_audio_format', format === undefined ? undefined : (BETA_FORMATS[format] ?? format)),
        ...own('turn_detection', turns),
        ...own('input_audio_transcription', transcription),
      };
    }
    const input = {
      ...own('format', format === undefined ? undefined : { type: format }),
      ...own('turn_detection', turns),
      ...own('transcription', transcription),
    };
    return { type: 'transcription', audio: { input } };
  }

  #wrong(): Promise<void> {
    const { random } = this;
    const update = (update: Update) => ({ type: this.#names.update, session: this.#session(update) });
    const what = random.below(10);
    if (what < 2)
      return this.#sendWithoutId(random.pick([random.bytes(1 + random.below(50)), '{"type":', '[1]', 'null']));
    const event = random.pick([
      { type: `${BUFFER}.append` },
      { type: `${BUFFER}.append`, audio: '%%%%' },
      { type: `${BUFFER}.append`, audio: 7 },
      { type: 'response.create' },
      { type: '' },
      { type: `${BUFFER}.append`, audio: 'AAAA\n' },
      { type: this.#names.update },
      { type: this.#names.update, session: 7 },
      update({ turns: { type: 'server_vad', threshold: 2 } }),
      update({ turns: { type: 'none' } }),
      update({ transcription: { language: 'klingon' } }),
      update({ transcription: { model: 'no-such-model' } }),
      update({ format: 'audio/none' }),
    ]);
    return this.#send('wrong', event);
  }

  #send(kind: SentClientEvent['kind'], event: object): Promise<void> {
    const id = `e${this.#events++}`;
    this.#sent.push({ kind, id });
    return sendSomehow(this.#client, JSON.stringify({ ...event, event_id: id }), this.random);
  }

  #sendWithoutId(message: Buffer | string): Promise<void> {
    this.#sent.push({ kind: 'wrong', id: null });
    return sendSomehow(this.#client, message, this.random);
  }

  /** Commits the rest, and waits for all that is to come. */
  async #finish(): Promise<void> {
    await this.#send('commit', { type: `${BUFFER}.commit` });
    // It is answered when all before was worked on.
    await this.#send('clear', { type: `${BUFFER}.clear` });
    const count = (type: string): number => this.#client.of(type).length;
    const clears = this.#sent.filter(({ kind }) => kind === 'clear').length;
    const isDone = (): boolean =>
      count(`${BUFFER}.cleared`) === clears &&
      count(`${TRANSCRIPTION}.completed`) + count(`${TRANSCRIPTION}.failed`) === count(`${BUFFER}.committed`);
    await until(() => isDone() || this.#client.closed !== null, 'all results', WATCHDOG_MS);
    // An item too many comes now, if there is one.
    await this.#send('wrong', { type: 'last' });
    const last = this.#sent.at(-1)!.id;
    const isAnswered = (): boolean =>
      this.#client.of('error').some(({ error }) => (error as { event_id: unknown }).event_id === last);
    await until(() => isAnswered() || this.#client.closed !== null, 'the last answer', WATCHDOG_MS);
    expect(this.#client.closed, 'the end of the connection').to.equal(null);
  }
}
