/** A DNS server on this machine that knows the names it is given, each as 127.0.0.1 (RFC 1035, section 4). */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const HEADER_BYTES = 12;
const TYPE_A = 1;
const NAME_ERROR = 3;

export class NameServer {
  readonly names = new Set<string>();

  private constructor(private readonly socket: Socket) {
    socket.on('message', (query, { port, address }) => socket.send(this.#answer(query), port, address));
  }

  static async start(): Promise<NameServer> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new NameServer(socket);
  }

  get port(): number {
    return this.socket.address().port;
  }

  async close(): Promise<void> {
    const closed = once(this.socket, 'close');
    this.socket.close();
    await closed;
  }

  #answer(query: Buffer): Buffer {
    const { name, end } = questionOf(query);
    const known = this.names.has(name);
    const found = known && query.readUInt16BE(end) === TYPE_A;
    const head = Buffer.from(query.subarray(0, HEADER_BYTES));
    // An answer, of one who looks further for whoever asks.
    head.writeUInt16BE(0x8180 | (known ? 0 : NAME_ERROR), 2);
    head.writeUInt16BE(found ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    // The name by its place in the question, A, IN, for no time, four bytes.
    const record = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
    return Buffer.concat([head, query.subarray(HEADER_BYTES, end + 4), ...(found ? [record] : [])]);
  }
}

/** Its first question: the name, and where its type stands. */
function questionOf(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}
