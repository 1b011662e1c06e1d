/** Wyoming's frames: a line of JSON, then JSON that belongs to its `data`, then a payload. */
import { VerbatimError } from '../../errors.js';

export interface WyomingFrame {
  type: string;
  data: Record<string, unknown>;
  payload: Buffer;
}

const MOST_HEADER_BYTES = 65_536;
const MOST_DATA_BYTES = 2 ** 20;
const MOST_PAYLOAD_BYTES = 2 ** 20;
const VERSION = '1.5.2';
const NEWLINE = 0x0a;

interface Header {
  type: string;
  data: Record<string, unknown>;
  dataBytes: number;
  payloadBytes: number;
}

/** Takes the bytes of a connection as they come. */
export class WyomingReader {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #header: Header | null = null;

  /** What is known of the connection's next frame. */
  get hasPart(): boolean {
    return this.#bytes > 0 || this.#header !== null;
  }

  /** The frames that are complete with these bytes. Throws `invalid_request` for what is no frame. */
  *push(bytes: Buffer): Generator<WyomingFrame> {
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    for (let frame = this.#next(); frame !== null; frame = this.#next()) yield frame;
  }

  #next(): WyomingFrame | null {
    this.#header ??= this.#readHeader();
    if (this.#header === null) return null;
    const { type, data, dataBytes, payloadBytes } = this.#header;
    if (this.#bytes < dataBytes + payloadBytes) return null;
    const more = dataBytes === 0 ? {} : objectOf(this.#take(dataBytes).toString('utf8'), 'The data');
    const payload = this.#take(payloadBytes);
    this.#header = null;
    return { type, data: { ...data, ...more }, payload };
  }

  #readHeader(): Header | null {
    if (this.#bytes === 0) return null;
    // A header that has come whole is searched once; one in many pieces is bounded.
    const all = this.#whole();
    const end = all.indexOf(NEWLINE);
    if (end > MOST_HEADER_BYTES || (end < 0 && all.length > MOST_HEADER_BYTES))
      throw tooLong('header', MOST_HEADER_BYTES);
    if (end < 0) return null;
    const header = objectOf(this.#take(end + 1).toString('utf8'), 'The header');
    const { type, data = {} } = header;
    if (typeof type !== 'string') throw invalidFrame('The header has no "type".');
    if (!isObject(data)) throw invalidFrame('"data" is no object.');
    return {
      ...{ type, data },
      dataBytes: lengthOf(header, 'data_length', MOST_DATA_BYTES),
      payloadBytes: lengthOf(header, 'payload_length', MOST_PAYLOAD_BYTES),
    };
  }

  #whole(): Buffer {
    const [first, ...others] = this.#pieces;
    if (first !== undefined && others.length === 0) return first;
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [all];
    return all;
  }

  #take(count: number): Buffer {
    const all = this.#whole();
    const rest = all.subarray(count);
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    return all.subarray(0, count);
  }
}

function lengthOf(header: Record<string, unknown>, name: string, most: number): number {
  const value = header[name] ?? 0;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) {
    throw invalidFrame(`"${name}" is no number of bytes.`);
  }
  if (value > most) throw tooLong(name, most);
  return value;
}

function objectOf(text: string, what: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Refused below.
  }
  throw invalidFrame(`${what} of a frame is no JSON object.`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function tooLong(what: string, most: number): VerbatimError {
  return invalidFrame(`A frame's ${what} is too long; allowed: ${most} bytes.`);
}

function invalidFrame(message: string): VerbatimError {
  return new VerbatimError('invalid_request', message);
}

/** A frame without a payload; its data in the header, which every version of the protocol reads. */
export function frameBytes(type: string, data: object = {}): Buffer {
  return Buffer.from(`${JSON.stringify({ type, data, version: VERSION })}\n`, 'utf8');
}
