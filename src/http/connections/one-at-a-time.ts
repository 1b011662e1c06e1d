/**
 * One request of a connection at a time. Node hands a whole chunk of a socket (64 KiB, room for thousands of requests)
 * to its parser, which starts every request in it before the first is answered. So a client that pipelines and does not
 * read would make the server hold all of those answers.
 *
 * Here the parser gets the bytes of one head, then that request's body. The rest waits in the socket until the answer
 * has left. The socket is paused, so TCP makes the client wait too. A body that nobody reads yet waits there as well;
 * Node would take one chunk more of it. While input waits, a client that closes its side is not noticed before the
 * running request is answered.
 *
 * Closing a connection at its second unanswered request would take less code, but not bound memory. Node's parser has
 * started thousands of requests by then (18,500 of one client, with the socket paused in the second's listener). Only
 * destroying the socket stops it, which costs an honest client its first answer. Nor would it leave a body in its
 * socket until its upload has a turn: Node takes up to 64 KiB of each.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { release } from './dead-bytes.js';

/** Node's parser takes no head, and no end of a chunked body, that ends otherwise. */
const END = Buffer.from('\r\n\r\n');
/**
 * A body of at most this size goes to the parser whether or not a handler reads it. Once it is whole, nothing of it is
 * left in the socket.
 */
const SMALL_BODY = 65_536;

const gates = new WeakMap<Socket, RequestGate>();

export type RequestListener = (req: IncomingMessage, res: ServerResponse) => void;

/** Has to be called before the server's first connection. Returns the listener that requests must come through. */
export function oneAtATime(server: Server, listener: RequestListener): RequestListener {
  server.on('connection', (socket: Socket) => gates.set(socket, new RequestGate(socket)));
  return (req, res) => {
    gates.get(req.socket)?.begin(req, res);
    listener(req, res);
  };
}

/** Calls once when input for the request, which is paused, waits in its socket; that may be now. */
export function whenInputWaits(req: IncomingMessage, call: () => void): void {
  gates.get(req.socket)?.whenInputWaits(call);
}

/**
 * Resumes the request, and calls once its parser has had the bytes that wait in the socket. They need not include any
 * of the body.
 */
export function takeInput(req: IncomingMessage, call: () => void): void {
  gates.get(req.socket)?.takeInput(call);
  req.resume();
}

/** From now on the connection speaks another protocol: what it sends is left to others. */
export function leaveHttp(socket: Socket): void {
  gates.get(socket)?.leave();
  gates.delete(socket);
}

class RequestGate {
  readonly #listener = (chunk: Buffer): void => this.#feed(chunk);
  #hasLeft = false;
  readonly #parse: (chunk: Buffer) => void;
  #running: IncomingMessage | null = null;
  /** Bytes still to come of a body with Content-Length. */
  #bodyLeft = 0;
  #isLarge = false;
  #onInput: (() => void) | null = null;
  #onTaken: (() => void) | null = null;
  /** The last bytes that the parser got, for an end that two chunks share. */
  #last = Buffer.alloc(0);

  constructor(private readonly socket: Socket) {
    const listeners = socket.listeners('data');
    this.#parse = (chunk) => {
      for (const listener of listeners) listener.call(socket, chunk);
    };
    // A listener for data makes Node read the socket in JavaScript instead of in its parser.
    socket.on('data', this.#listener);
    for (const listener of listeners) socket.off('data', listener as () => void);
  }

  leave(): void {
    this.#hasLeft = true;
    this.socket.off('data', this.#listener);
  }

  begin(req: IncomingMessage, res: ServerResponse): void {
    this.#running = req;
    const isChunked = req.headers['transfer-encoding'] !== undefined;
    this.#bodyLeft = isChunked ? 0 : Number(req.headers['content-length'] ?? 0);
    this.#isLarge = this.#bodyLeft > SMALL_BODY;
    const resume = (): void => {
      if (!this.socket.destroyed) this.socket.resume();
    };
    if (isChunked || this.#bodyLeft > 0) req.on('resume', resume);
    res.once('close', () => {
      this.#running = null;
      this.#onInput = null;
      this.#onTaken = null;
      resume();
    });
  }

  whenInputWaits(call: () => void): void {
    this.#onInput = call;
    if (this.#keepsBack() && this.socket.readableLength > 0) this.#notifyInput();
  }

  takeInput(call: () => void): void {
    this.#onTaken = call;
  }

  #notifyInput(): void {
    const call = this.#onInput;
    this.#onInput = null;
    call?.();
  }

  #notifyTaken(): void {
    const call = this.#onTaken;
    this.#onTaken = null;
    call?.();
  }

  /** A body has to be read by its "data" events. */
  #keepsBack(): boolean {
    const req = this.#running;
    if (req === null) return false;
    if (req.complete) return true;
    if (req.readableFlowing === true) return false;
    return this.#isLarge || req.readableFlowing === false || req.readableLength > 0;
  }

  #feed(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0 && !this.socket.destroyed && !this.#keepsBack()) {
      const length = this.#next(rest);
      const part = rest.subarray(0, length);
      rest = rest.subarray(length);
      this.#parse(part);
      if (this.#hasLeft) {
        if (rest.length > 0) this.socket.unshift(rest);
        return;
      }
    }
    const isTaken = rest.length < chunk.length;
    const waits = rest.length > 0 && !this.socket.destroyed;
    if (waits) {
      this.socket.pause();
      this.socket.unshift(rest);
    } else {
      // The parser has copied the bytes. release() leaves the chunk empty, its length included.
      release(chunk);
    }
    if (isTaken) this.#notifyTaken();
    if (waits) this.#notifyInput();
  }

  /** How much of the input belongs to one request for certain. */
  #next(input: Buffer): number {
    if (this.#bodyLeft > 0) {
      const length = Math.min(this.#bodyLeft, input.length);
      this.#bodyLeft -= length;
      this.#last = Buffer.alloc(0);
      return length;
    }
    const length = this.#endIn(input);
    this.#last = Buffer.concat([this.#last, input.subarray(Math.max(0, length - 3), length)]).subarray(-3);
    return length;
  }

  #endIn(input: Buffer): number {
    const across = Buffer.concat([this.#last, input.subarray(0, 3)]).indexOf(END);
    if (across >= 0) return across + END.length - this.#last.length;
    const within = input.indexOf(END);
    return within >= 0 ? within + END.length : input.length;
  }
}
