/** Values on a stream of bytes: of each its length in four bytes, its form in one, and what that makes of it. */
import type { Writable } from 'node:stream';
import { DefaultSerializer, deserialize } from 'node:v8';
import { atTurnEnd } from './turn-end.js';

/**
 * `clone`: whatever the structured clone algorithm can copy. `json`: plain values, for half the processor time; what has the value
 * undefined is left out, and a number that is not finite comes as null.
 */
export type Form = 'clone' | 'json';

/** What is in T and would not come out of JSON as it was; never: nothing. */
export type NotPlain<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined
    ? never
    : T extends readonly (infer Item)[]
      ? NotPlain<Item>
      : T extends
            ((...given: never[]) => unknown) | ArrayBufferView | ArrayBuffer | Date | Error | bigint | symbol
        ? T
        : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
          ? T
          : { [Key in keyof T]-?: NotPlain<T[Key]> }[keyof T];

const LENGTH_BYTES = 4;
const HEADER_BYTES = LENGTH_BYTES + 1;
const CLONE = 0;
const JSON_TEXT = 1;
const EMPTY_HEADER = Buffer.alloc(HEADER_BYTES);

export interface Frame {
  value: unknown;
  bytes: number;
}

/** Throws where the form has no way to write it. */
export function frameOf(value: unknown, form: Form): Buffer {
  const frame = form === 'json' ? textFrame(JSON.stringify(value)) : cloneFrame(value);
  frame.writeUInt32LE(frame.length - LENGTH_BYTES);
  return frame;
}

function textFrame(text: string): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + Buffer.byteLength(text));
  frame[LENGTH_BYTES] = JSON_TEXT;
  frame.write(text, HEADER_BYTES);
  return frame;
}

function cloneFrame(value: unknown): Buffer {
  const serializer = new DefaultSerializer();
  serializer.writeRawBytes(EMPTY_HEADER);
  serializer.writeHeader();
  serializer.writeValue(value);
  const frame = serializer.releaseBuffer();
  frame[LENGTH_BYTES] = CLONE;
  return frame;
}

function valueOf(body: Buffer): unknown {
  const form = body[0];
  if (form === JSON_TEXT) return JSON.parse(body.toString('utf8', 1));
  if (form === CLONE) return deserialize(body.subarray(1));
  throw new Error('a message in a form that is none');
}

type Done = (error: Error | null) => void;

/** What is sent in one turn of the event loop goes out in one piece: a write costs more than a frame, at both ends. */
export class FrameWriter {
  #frames: Buffer[] = [];
  #done: Done[] = [];

  constructor(private readonly stream: Writable) {}

  /** `done`: the stream has taken it, or never will. On a stream that is closed nothing is sent. Throws as frameOf() does. */
  write(value: unknown, form: Form, done?: Done): void {
    if (!this.stream.writable) {
      done?.(null);
      return;
    }
    const frame = frameOf(value, form);
    if (done !== undefined) this.#done.push(done);
    if (this.#frames.push(frame) === 1) atTurnEnd(() => this.#flush());
  }

  #flush(): void {
    const frames = this.#frames.splice(0);
    const all = this.#done.splice(0);
    const done = (error: Error | null | undefined): void => {
      for (const tell of all) tell(error ?? null);
    };
    if (this.stream.writable) this.stream.write(Buffer.concat(frames), done);
    else done(null);
  }
}

/** Puts frames together again, of pieces of any size. A frame that is too long is refused before it has come. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #wanted = LENGTH_BYTES;

  constructor(private readonly mostBytes: number) {}

  /** The values that are whole now, with the bytes that each came in. Throws an Error for what is no frame, or too long a one. */
  push(piece: Buffer): Frame[] {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    const frames: Frame[] = [];
    while (this.#bytes >= this.#wanted) frames.push(...this.#next());
    return frames;
  }

  /** None where only its length is known yet. */
  #next(): Frame[] {
    const [first, ...others] = this.#pieces;
    const all = first !== undefined && others.length === 0 ? first : Buffer.concat(this.#pieces);
    const length = all.readUInt32LE();
    if (length > this.mostBytes) throw new Error(`a message of ${length} bytes; allowed: ${this.mostBytes}`);
    const end = LENGTH_BYTES + length;
    const isWhole = all.length >= end;
    this.#pieces = [isWhole ? all.subarray(end) : all];
    this.#bytes = all.length - (isWhole ? end : 0);
    this.#wanted = isWhole ? LENGTH_BYTES : end;
    return isWhole ? [{ value: valueOf(all.subarray(LENGTH_BYTES, end)), bytes: end }] : [];
  }
}
