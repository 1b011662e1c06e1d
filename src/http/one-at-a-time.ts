/**
 * One request of a connection at a time. Node hands a whole chunk of a socket (64 KiB, room for thousands of requests) to its
 * parser, which starts every request in it before the first is answered; a client that pipelines and does not read makes the
 * server hold all of those answers. Here the parser gets its bytes up to the end of one head, then that request's body, and
 * the rest waits in the socket until the answer has left: paused, so that TCP makes the client wait too.
 *
 * While input waits, a client that closes its side is not noticed before the running request is answered.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { release } from './dead-bytes.js';

/** Node's parser takes no head, and no end of a chunked body, that ends otherwise. */
const END = Buffer.from('\r\n\r\n');

export type RequestListener = (req: IncomingMessage, res: ServerResponse) => void;

/** Has to be called before the server's first connection. Returns the listener that requests must come through. */
export function oneAtATime(server: Server, listener: RequestListener): RequestListener {
  const gates = new WeakMap<Socket, RequestGate>();
  server.on('connection', (socket: Socket) => gates.set(socket, new RequestGate(socket)));
  return (req, res) => {
    gates.get(req.socket)?.begin(req, res);
    listener(req, res);
  };
}

class RequestGate {
  readonly #parse: (chunk: Buffer) => void;
  #running: IncomingMessage | null = null;
  /** Bytes still to come of a body that told its length. */
  #bodyLeft = 0;
  /** The last bytes that the parser got, for an end that two chunks share. */
  #last = Buffer.alloc(0);

  constructor(private readonly socket: Socket) {
    const listeners = socket.listeners('data');
    this.#parse = (chunk) => {
      for (const listener of listeners) listener.call(socket, chunk);
    };
    // A listener for data makes Node read the socket in JavaScript instead of in its parser.
    socket.on('data', (chunk: Buffer) => this.#feed(chunk));
    for (const listener of listeners) socket.off('data', listener as () => void);
  }

  begin(req: IncomingMessage, res: ServerResponse): void {
    this.#running = req;
    this.#bodyLeft =
      req.headers['transfer-encoding'] === undefined ? Number(req.headers['content-length'] ?? 0) : 0;
    res.once('close', () => {
      this.#running = null;
      if (!this.socket.destroyed) this.socket.resume();
    });
  }

  #feed(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0 && !this.socket.destroyed) {
      if (this.#running?.complete === true) {
        this.socket.pause();
        this.socket.unshift(rest);
        return;
      }
      const length = this.#next(rest);
      const part = rest.subarray(0, length);
      rest = rest.subarray(length);
      this.#parse(part);
    }
    // The parser has copied what it hands on.
    release(chunk);
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
