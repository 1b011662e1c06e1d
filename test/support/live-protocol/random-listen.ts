/** A random session of Deepgram's protocol, and what the model says to it. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Mulberry32 } from '../random.js';
import { SocketClient } from '../socket-client.js';
import { until } from '../until.js';
import { ListenProtocolModel, type ListenFacts } from './listen-model.js';
import { leave, pauseSomehow, randomEnd, sendSomehow } from './random-client.js';
import { RandomSignal, type Encoding, type SignalFormat } from './random-signal.js';

/** Of audio; more is worked on at four times real time only. */
const MOST_SECONDS = 9;
const MOST_STEPS = 30;
const WATCHDOG_MS = 300_000;
const ENCODINGS: readonly Encoding[] = ['linear16', 'linear32', 'mulaw', 'alaw'];
const RATES = [8000, 11_025, 16_000, 24_000, 44_100, 48_000];
/** While others are waited for, for longer than a client may be silent. */
const KEEP_ALIVE_MS = 2000;

export class RandomListenSession {
  readonly #format: SignalFormat;
  readonly #query: URLSearchParams;
  readonly #facts: ListenFacts;
  readonly #signal: RandomSignal;
  readonly #hash = createHash('sha256');
  readonly #isManual: boolean;
  #client!: SocketClient;
  #bytes = 0;

  constructor(private readonly random: Mulberry32) {
    const isLikely = (times: number): boolean => random.below(times) === 0;
    this.#format = {
      encoding: random.pick(ENCODINGS),
      sampleRate: random.pick(RATES),
      channels: isLikely(3) ? 1 + random.below(3) : 1,
    };
    this.#signal = new RandomSignal(random, this.#format);
    this.#isManual = isLikely(4);
    const interim = isLikely(2);
    const utteranceEndMs = interim && isLikely(2) ? 1000 + random.below(1000) : null;
    const vadEvents = isLikely(2);
    this.#facts = {
      ...{ interim, vadEvents, utteranceEndMs, channels: this.#format.channels },
      ...{ finalizes: 0, unknown: 0, isClosing: false, seconds: 0, sha256: '' },
    };
    this.#query = new URLSearchParams({
      ...{ encoding: this.#format.encoding, sample_rate: `${this.#format.sampleRate}` },
      ...{ channels: `${this.#format.channels}`, interim_results: `${interim}`, vad_events: `${vadEvents}` },
      ...{ language: random.pick(['en', 'de', 'multi']), endpointing: this.#endpointing() },
      ...(utteranceEndMs === null ? {} : { utterance_end_ms: `${utteranceEndMs}` }),
      ...(isLikely(2) ? {} : random.pick([{ punctuate: 'true' }, { smart_format: 'true', no_delay: 'true' }])),
    });
  }

  #endpointing(): string {
    return this.#isManual ? 'false' : this.random.pick(['10', '25', '300', '500', '1000', 'true']);
  }

  /** Rejects where the model says no. */
  async run(url: string, key: string): Promise<void> {
    const headers = { authorization: `Token ${key}` };
    this.#client = await SocketClient.connect(`${url}/v1/listen?${this.#query.toString()}`, [], { headers });
    const end = randomEnd(this.random);
    try {
      for (let step = this.random.below(MOST_STEPS); step > 0; step--) await this.#step();
      if (end === 'finish') await this.#finish();
      else await leave(this.#client, end);
      this.#judge(end === 'finish');
    } catch (cause) {
      throw new Error(`${this.#query.toString()}: ${(cause as Error).message}`, { cause });
    } finally {
      this.#client.socket.terminate();
    }
  }

  #judge(isFinished: boolean): void {
    this.#facts.seconds = this.#signal.secondsOf(this.#bytes);
    this.#facts.sha256 = this.#hash.digest('hex');
    const model = new ListenProtocolModel(this.#facts);
    const { events } = this.#client;
    for (const [index, event] of events.entries()) {
      try {
        model.receive(event);
      } catch (cause) {
        const before = events.slice(Math.max(0, index - 8), index + 1).map((one) => JSON.stringify(one));
        throw new Error(`${(cause as Error).message}, in message ${index}:\n${before.join('\n')}`, { cause });
      }
    }
    if (isFinished) model.finish({ coversAll: this.#isManual && this.#facts.finalizes === 0 });
  }

  async #step(): Promise<void> {
    const what = this.random.below(20);
    if (what < 12) await this.#audio();
    else if (what < 14) {
      this.#facts.finalizes += 1;
      await this.#control('{"type":"Finalize"}');
    } else if (what === 14) await this.#control('{"type":"KeepAlive"}');
    else if (what === 15) {
      this.#facts.unknown += 1;
      await this.#control(this.random.pick(['{"type":', '{}', '[]', '"KeepAlive"', '{"type":7}', '{"type":"Stop"}']));
    } else await pauseSomehow(this.random);
  }

  async #audio(): Promise<void> {
    const left = this.#signal.bytesOf(MOST_SECONDS) - this.#bytes;
    const longest = this.random.pick([3, 700, this.#signal.bytesOf(0.3), this.#signal.bytesOf(3)]);
    const bytes = Math.min(left, 1 + this.random.below(longest));
    if (bytes <= 0) return pauseSomehow(this.random);
    const audio = this.#signal.next(bytes);
    this.#bytes += bytes;
    this.#hash.update(audio);
    await sendSomehow(this.#client, audio, this.random);
  }

  #control(text: string): Promise<void> {
    return sendSomehow(this.#client, text, this.random);
  }

  async #finish(): Promise<void> {
    this.#facts.isClosing = true;
    if (this.random.below(4) === 0) this.#client.socket.send(Buffer.alloc(0));
    else await this.#control('{"type":"CloseStream"}');
    // It is no message of the stream any more.
    if (this.#client.closed === null) this.#client.socket.send('{"type":"Finalize"}');
    const alive = setInterval(() => {
      if (this.#client.closed === null) this.#client.send({ type: 'KeepAlive' });
    }, KEEP_ALIVE_MS);
    try {
      await until(() => this.#client.closed !== null, 'the end of the connection', WATCHDOG_MS);
    } finally {
      clearInterval(alive);
    }
    expect(this.#client.closed).to.deep.equal({ code: 1000, reason: '' });
  }
}
