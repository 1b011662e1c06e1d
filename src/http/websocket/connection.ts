/** A client's WebSocket: its messages one after the other, and bounds for what it makes the server hold. */
import type { WebSocket } from 'ws';
import { pauseFor } from '../../live/pause.js';
import type { Timer, Timers } from '../../timers.js';
import type { UnreadOutput } from './unread-output.js';
import type { UselessBytes } from './useless-bytes.js';

/** The longest message: 15 MiB of base64, and what surrounds it. */
export const MOST_SOCKET_MESSAGE_BYTES = 15 * 2 ** 20 + 65_536;
/** Messages on their way to the client. One that reads less is cut off. */
export const MOST_UNREAD_BYTES = 4 * 2 ** 20;
/** A proxy takes a connection for dead that says nothing for a minute. */
const PING_MS = 20_000;
/** Messages within a span of time, over which the rest waits. */
const SPAN_MS = 100;
const MOST_IN_SPAN = 100;

export interface Message {
  data: Buffer;
  isBinary: boolean;
}

export interface ConnectionHandler {
  /** The next message is not read before this one is worked off. Must not reject. */
  message(message: Message): Promise<void> | void;
  /** Once; the client left or was cut off, or close() was called. */
  closed(): void;
}

/** What is bounded for more than one connection. */
export interface SharedBounds {
  useless: UselessBytes;
  unread: UnreadOutput;
}

export class SocketConnection {
  readonly #waiting: Message[] = [];
  readonly #ping: Timer;
  #isAlive = true;
  #isReading = false;
  #inSpan = 0;
  #spanEnd = 0;
  #handler: ConnectionHandler | null = null;
  #isCut = false;
  readonly #end = new AbortController();

  constructor(
    private readonly socket: WebSocket,
    private readonly timers: Timers,
    private readonly bounds: SharedBounds,
  ) {
    socket.on('message', (data, isBinary) => this.#receive({ data: bytesOf(data), isBinary }));
    socket.on('pong', () => (this.#isAlive = true));
    // A protocol error closes the connection, which is reported.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#over());
    this.#ping = timers.every(PING_MS, () => this.#look());
  }

  /** Once, before anything is received. */
  begin(handler: ConnectionHandler): void {
    this.#handler = handler;
    void this.#read();
  }

  get isOpen(): boolean {
    return !this.#end.signal.aborted && this.socket.readyState === this.socket.OPEN;
  }

  /** One message of JSON. */
  send(message: object): void {
    if (!this.isOpen) return;
    this.socket.send(JSON.stringify(message), () => this.#countUnread());
    this.#countUnread();
    if (this.socket.bufferedAmount > MOST_UNREAD_BYTES) this.cut();
  }

  /** Ends it without a word to the client. */
  cut(): void {
    this.#isCut = true;
    this.bounds.unread.update(this, 0);
    this.socket.terminate();
  }

  /** So many bytes of the message that is handled were useless. Resolves when they are paid for by a pause. */
  async payForUseless(bytes: number): Promise<void> {
    const delay = this.bounds.useless.delayMs(bytes, this.timers.now());
    if (delay > 0 && this.isOpen) await pauseFor(delay, this.timers, this.#end.signal);
  }

  /** What was sent before still leaves. `reason`: at most 123 bytes. */
  close(code: number, reason: string): void {
    this.#waiting.length = 0;
    if (!this.#end.signal.aborted) this.socket.close(code, reason);
  }

  #countUnread(): void {
    if (!this.#isCut && !this.#end.signal.aborted) this.bounds.unread.update(this, this.socket.bufferedAmount);
  }

  #receive(message: Message): void {
    if (this.#end.signal.aborted) return;
    // Its pong may wait behind many messages.
    this.#isAlive = true;
    this.#waiting.push(message);
    this.socket.pause();
    void this.#read();
  }

  async #read(): Promise<void> {
    if (this.#isReading || this.#handler === null) return;
    this.#isReading = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#pace();
      await this.#handler.message(next);
    }
    this.#isReading = false;
    if (!this.#end.signal.aborted) this.socket.resume();
  }

  async #pace(): Promise<void> {
    const now = this.timers.now();
    if (now >= this.#spanEnd) {
      this.#spanEnd = now + SPAN_MS;
      this.#inSpan = 0;
    }
    if (++this.#inSpan <= MOST_IN_SPAN) return;
    await new Promise<void>((resolve) => this.timers.after(this.#spanEnd - now, resolve));
    this.#inSpan = 0;
  }

  #look(): void {
    if (!this.#isAlive) {
      this.socket.terminate();
      return;
    }
    this.#isAlive = false;
    // A paused socket reads no pong.
    if (this.socket.isPaused) this.#isAlive = true;
    this.socket.ping();
  }

  #over(): void {
    if (this.#end.signal.aborted) return;
    this.#end.abort();
    this.bounds.unread.update(this, 0);
    this.#ping.cancel();
    this.#waiting.length = 0;
    this.#handler?.closed();
  }
}

function bytesOf(data: Buffer | ArrayBuffer | Buffer[]): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
