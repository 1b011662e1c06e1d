/** Requests that are answered in events. */
import { expect } from 'chai';
import { EventReader, type ReadEvent } from '../../support/event-reader.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { call, form, type Answer, type Part } from '../../support/requests.js';
import { bearer, TestServer, type Customer, type TestServerOptions } from '../../support/server.js';
import { until } from '../../support/until.js';

export const PATH = '/v1/audio/transcriptions';
export const TRANSLATIONS = '/v1/audio/translations';
export const HEARTBEAT_MS = 15_000;
/** A window a minute. */
export const THREE_MINUTES = fakeAudio(180, { text: 'One.|Two.|Three.' });

export const DELTA = 'transcript.text.delta';
export const delta = (text: string): ReadEvent => ({ event: DELTA, data: { type: DELTA, delta: text } });

export interface SentStream {
  file?: Buffer;
  parts?: Part[];
  path?: string;
  headers?: Record<string, string>;
  key?: { rawKey: string };
  signal?: AbortSignal;
  to?: { url: string };
}

/** As bytes. */
export function upload(file: Buffer, key: { rawKey: string }): string {
  const body =
    '--edge\r\nContent-Disposition: form-data; name="stream"\r\n\r\ntrue\r\n' +
    '--edge\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n' +
    '--edge\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' +
    `${file.toString()}\r\n--edge--\r\n`;
  return (
    `POST ${PATH} HTTP/1.1\r\nHost: test\r\nAuthorization: ${bearer(key)['authorization']!}\r\n` +
    `Content-Type: multipart/form-data; boundary=edge\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
}

/** Of a body in chunks. */
export const unchunked = (received: string): string => received.replaceAll(/\r\n[0-9a-f]+\r\n/g, '');

export const last = (events: readonly ReadEvent[]): ReadEvent => events.at(-1)!;

/** A test server, a customer with 100 credits, and requests whose answers are streams. */
export class StreamFixture {
  server!: TestServer;
  customer!: Customer;
  timers!: ManualTimers;

  async start(options: TestServerOptions = {}): Promise<void> {
    this.timers = new ManualTimers();
    this.server = await TestServer.start({ timers: this.timers, ...options });
    this.customer = await this.server.customer(100);
  }

  async close(): Promise<void> {
    const { server } = this;
    server.engine.release();
    await until(() => server.engine.running === 0 && server.uploads().length === 0);
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
  }

  open(sent: SentStream = {}): Promise<EventReader> {
    return EventReader.open(sent.to ?? this.server, sent.path ?? PATH, this.#request(sent));
  }

  post(sent: SentStream = {}): Promise<Answer> {
    return call(this.server, sent.path ?? PATH, this.#request(sent));
  }

  /** Its first pieces, read while it runs. */
  async listening(pieces: number, sent: SentStream = {}): Promise<EventReader> {
    this.server.engine.holdAll(pieces);
    const reader = await this.open(sent);
    for (let n = 0; n < pieces; n += 1) expect((await reader.next())?.event).to.equal(DELTA);
    return reader;
  }

  async spent(): Promise<number> {
    return 100 - (await this.server.balance(this.customer));
  }

  async usedMinutes(): Promise<number> {
    return (await this.server.ledger.history.report(this.customer.account.id, 1)).totalMinutes;
  }

  hasLogged(status: number): boolean {
    return this.server.logs.some((line) => line['status'] === status);
  }

  #request({ file = THREE_MINUTES, parts = [], headers = {}, key, signal }: SentStream) {
    return {
      method: 'POST',
      headers: { ...bearer(key ?? this.customer.key), ...headers },
      body: form([['file', file], ['model', 'whisper-1'], ['stream', 'true'], ...parts]),
      ...(signal ? { signal } : {}),
    };
  }
}

/** For every test of the block that calls it; each starts its own server. */
export function useStreamFixture(): StreamFixture {
  const fixture = new StreamFixture();
  afterEach(() => fixture.close());
  return fixture;
}
