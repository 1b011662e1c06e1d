/** What the server holds for a client that reads nothing, and what counts as delivered. */
import { createServer, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { expect } from 'chai';
import { EventStream } from '../../../src/http/app/event-stream.js';
import { TranscriptStream } from '../../../src/http/transcripts/transcript-stream.js';
import type { TranscriptionAnswer } from '../../../src/transcription/transcription.js';
import { ManualTimers } from '../../support/manual-timers.js';

const HIGH_WATER = 16_384;
const HEARTBEAT_MS = 15_000;

/** A connection to a server, whose system takes what it is given when the test says so. */
class Connection extends Duplex {
  text = '';
  #waiting: (() => void) | null = null;

  constructor() {
    super({ writableHighWaterMark: HIGH_WATER });
  }

  override _read(): void {
    // Only what the test pushes.
  }

  override _write(chunk: Buffer, _encoding: string, taken: () => void): void {
    this.#waiting = () => {
      this.text += chunk.toString();
      taken();
    };
  }

  /** All that waits. */
  async takeAll(): Promise<void> {
    while (this.#waiting !== null) {
      const waiting = this.#waiting;
      this.#waiting = null;
      waiting();
      await turn();
    }
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What Node's server answers a request on the connection with. */
function responseOn(connection: Connection): Promise<ServerResponse> {
  return new Promise((resolve) => {
    const server = createServer((_req, res) => resolve(res));
    server.emit('connection', connection);
    connection.push('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
  });
}

async function reader() {
  const timers = new ManualTimers();
  const connection = new Connection();
  const res = await responseOn(connection);
  let [ended, largest, sentLength, spoken] = [0, 0, 0, ''];
  const events = (headers: () => OutgoingHttpHeaders): EventStream =>
    new EventStream({
      ...{ res, timers, begin: () => void res.writeHead(200, headers()) },
      ended: () => (ended += 1),
    });
  const stream = new TranscriptStream(
    { events },
    {
      headers: {},
      progress: ({ doneSeconds }) => ({ event: 'progress', data: { doneSeconds } }),
      delta: (delta) => {
        largest = Math.max(largest, delta.length);
        sentLength += delta.length;
        return { event: 'delta', data: { delta } };
      },
      done: (_answer, reportedLength) => [
        ...(reportedLength < spoken.length ? [{ event: 'delta', data: { delta: spoken.slice(reportedLength) } }] : []),
        { event: 'done', data: {} },
      ],
    },
  );
  const say = async (text: string, seconds: number): Promise<void> => {
    spoken += text;
    stream.onText(text, seconds);
    await turn();
  };
  /** Text that is in no event yet. */
  const pendingLength = (): number => spoken.length - sentLength;
  /** What the process holds of the answer. */
  const heldBytes = (): number => res.writableLength + connection.writableLength + pendingLength();
  const reported = (): string => [...connection.text.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join('');
  return {
    ...{ connection, heldBytes, pendingLength, spoken: () => spoken, say, stream, timers, reported },
    ended: () => ended,
    largest: () => largest,
  };
}

const ANSWER = { replayed: false } as TranscriptionAnswer;

describe('a transcript in events', () => {
  it('holds, for 100 clients that read nothing, the text that is still to be sent, and little else', async () => {
    const readers = await Promise.all(Array.from({ length: 100 }, reader));
    const piece = ' piece'.repeat(20);
    for (const [index, one] of readers.entries()) {
      for (let n = 0; n < 300 + index; n += 1) await one.say(piece, n);
      // An hour without a client costs no heartbeats either.
      one.timers.pass(240 * HEARTBEAT_MS);
      const events = one.spoken().length - one.pendingLength();
      expect(events).to.be.below(HIGH_WATER);
      expect(one.heldBytes()).to.be.below(one.spoken().length + 2 * HIGH_WATER);
    }
  });

  it('goes on where it stopped, in one piece, when there is room', async () => {
    const one = await reader();
    for (let n = 0; n < 1000; n += 1) await one.say(` number ${n} of many more to come`, n);
    const before = one.pendingLength();
    expect(before).to.be.above(HIGH_WATER);
    await one.connection.takeAll();
    expect(one.pendingLength()).to.equal(0);
    expect(one.largest()).to.equal(before);
    expect(one.reported()).to.equal(one.spoken());
    await one.say(' The end.', 1000);
    (await one.stream.ending(ANSWER))();
    await one.connection.takeAll();
    expect(one.reported()).to.equal(one.spoken());
    expect(one.ended()).to.equal(1);
  });

  it('counts as delivered what the system has taken', async () => {
    const one = await reader();
    expect(one.stream.deliveredSeconds).to.equal(null);
    await one.say('One.', 10);
    expect(one.stream.deliveredSeconds).to.equal(null);
    await one.connection.takeAll();
    expect(one.stream.deliveredSeconds).to.equal(10);
    const long = 'x'.repeat(HIGH_WATER);
    await one.say(long, 20);
    await one.say(' Kept.', 30);
    expect(one.stream.deliveredSeconds).to.equal(10);
    await one.connection.takeAll();
    expect(one.stream.deliveredSeconds).to.equal(30);
  });

  it('sends a client that reads nothing its progress once, when there is room: the newest', async () => {
    const one = await reader();
    one.stream.onMeasured(10_000, 7);
    await one.connection.takeAll();
    await one.say('x'.repeat(HIGH_WATER), 0);
    for (let n = 1; n <= 10_000; n += 1) one.stream.onProgress(n);
    expect(one.heldBytes()).to.be.below(2 * HIGH_WATER + 1000);
    await one.connection.takeAll();
    const reported = [...one.connection.text.matchAll(/"doneSeconds":(\d+)/g)].map(([, seconds]) => Number(seconds));
    expect(reported).to.deep.equal([0, 10_000]);
  });

  it('says in the end what nobody said, and nothing after it', async () => {
    const one = await reader();
    await one.say('One.', 10);
    const end = await one.stream.ending(ANSWER);
    end();
    end();
    one.stream.onText(' Two.', 20);
    one.timers.pass(HEARTBEAT_MS);
    await one.connection.takeAll();
    expect(one.reported()).to.equal('One.');
    expect(one.ended()).to.equal(1);
    expect(one.connection.text.match(/event: done/g)).to.have.length(1);
  });
});
