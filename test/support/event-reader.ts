/** Reads an answer in server-sent events as they come, and is strict about their form. */
import { expect } from 'chai';
import type { CallInit } from './requests.js';

/** A comment has no event. */
export interface ReadEvent {
  event: string | null;
  data: Record<string, unknown>;
}

export class EventReader {
  #text = '';
  readonly #decoder = new TextDecoder();

  private constructor(
    readonly response: Response,
    private readonly reader: ReadableStreamDefaultReader<Uint8Array>,
  ) {}

  static async open(server: { url: string }, path: string, init: CallInit): Promise<EventReader> {
    const response = await fetch(server.url + path, { method: 'POST', ...init });
    expect(response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    return new EventReader(response, response.body!.getReader());
  }

  /** null at the end; rejects when the connection breaks. */
  async next(): Promise<ReadEvent | null> {
    let end = this.#text.indexOf('\n\n');
    for (; end < 0; end = this.#text.indexOf('\n\n')) {
      const { done, value } = await this.reader.read();
      if (done) {
        expect(this.#text).to.equal('');
        return null;
      }
      this.#text += this.#decoder.decode(value, { stream: true });
    }
    const block = this.#text.slice(0, end);
    this.#text = this.#text.slice(end + 2);
    if (block.startsWith(': ')) return { event: null, data: {} };
    const [, event, data] = /^event: (\S+)\ndata: (.*)$/.exec(block) ?? expect.fail(`no event: ${block}`);
    return { event: event!, data: JSON.parse(data!) as Record<string, unknown> };
  }

  /** Hangs up. */
  cancel(): Promise<void> {
    return this.reader.cancel();
  }

  async rest(): Promise<ReadEvent[]> {
    const events: ReadEvent[] = [];
    for (let next = await this.next(); next !== null; next = await this.next()) events.push(next);
    return events;
  }
}

/** The text of the pieces among them, joined. */
export function joinedDeltas(events: readonly ReadEvent[]): string {
  return events
    .filter(({ event }) => event === 'transcript.text.delta')
    .map(({ data }) => String(data['delta']))
    .join('');
}
