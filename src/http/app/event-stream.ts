/**
 * An answer in server-sent events. Nobody waits for its client: while that takes nothing, nothing is written, and what
 * there is to say is the writer's to keep. A client that waits long receives comments.
 */
import type { ServerResponse } from 'node:http';
import type { Timer, Timers } from '../../timers.js';
import { jsonBytes } from '../../transcription/json-pieces.js';
import { endInPieces } from './body-pieces.js';

export const EVENT_STREAM_TYPE = 'text/event-stream; charset=utf-8';

/** Proxies take a connection for dead that says nothing for a minute. */
const HEARTBEAT_MS = 15_000;
const HEARTBEAT = ': still at work\n\n';

export interface ServerEvent {
  event: string;
  data: object;
}

export interface EventStreamParts {
  res: ServerResponse;
  timers: Timers;
  /** Writes the head, once, before the first byte of the body. */
  begin: () => void;
  /** Called when the last event is handed over. */
  ended: () => void;
}

export class EventStream {
  readonly #heartbeat: Timer;
  #isOpen = false;
  #isEnded = false;
  /** Since the last heartbeat was due. */
  #isSilent = true;

  constructor(private readonly parts: EventStreamParts) {
    this.#heartbeat = parts.timers.every(HEARTBEAT_MS, () => this.#beat());
    parts.res.once('close', () => this.stop());
  }

  /** Whether the head is out, and the end is not: an error is an event then. */
  get isRunning(): boolean {
    return this.#isOpen && !this.#isEnded;
  }

  /** Whether an event that is sent now would only wait. */
  get isFull(): boolean {
    return this.#isEnded || this.parts.res.writableNeedDrain;
  }

  /** Calls each time when it is not full any more. */
  onRoom(call: () => void): void {
    this.parts.res.on('drain', call);
  }

  /** `taken`: the system has all of it. */
  send(event: ServerEvent, taken: () => void): void {
    this.#write(textOf(event), taken);
  }

  /** With the last events. */
  end(events: readonly ServerEvent[]): void {
    this.endWith(Buffer.from(events.map(textOf).join('')));
  }

  /** With what eventBytes() has made of the last events. */
  endWith(bytes: Buffer): void {
    if (this.#isEnded) return;
    this.#open();
    this.stop();
    endInPieces(this.parts.res, bytes);
    this.parts.ended();
  }

  /** Says nothing more. */
  stop(): void {
    this.#isEnded = true;
    this.#heartbeat.cancel();
  }

  #beat(): void {
    if (this.#isSilent && !this.isFull) this.#write(HEARTBEAT);
    this.#isSilent = true;
  }

  #write(text: string, taken?: () => void): void {
    if (this.#isEnded) return;
    this.#open();
    this.#isSilent = false;
    this.parts.res.write(Buffer.from(text), (error) => {
      if (!error) taken?.();
    });
  }

  #open(): void {
    if (!this.#isOpen) this.parts.begin();
    this.#isOpen = true;
  }
}

function textOf({ event, data }: ServerEvent): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Events with long data, as they are sent: others get their turns while they are written. */
export async function eventBytes(events: readonly ServerEvent[]): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (const { event, data } of events)
    pieces.push(Buffer.from(`event: ${event}\ndata: `), await jsonBytes(data), Buffer.from('\n\n'));
  return Buffer.concat(pieces);
}
