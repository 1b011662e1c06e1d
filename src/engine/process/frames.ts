/** Values on a stream of bytes: of each its length in four bytes, and what the structured clone algorithm makes of it. */
import type { Writable } from 'node:stream';
import { DefaultSerializer, deserialize } from 'node:v8';

const HEADER_BYTES = 4;
const EMPTY_HEADER = Buffer.alloc(HEADER_BYTES);

export interface Frame {
  value: unknown;
  bytes: number;
}

/** Throws where the structured clone algorithm does. */
export function frameOf(value: unknown): Buffer {
  const serializer = new DefaultSerializer();
  serializer.writeRawBytes(EMPTY_HEADER);
  serializer.writeHeader();
  serializer.writeValue(value);
  const frame = serializer.releaseBuffer();
  frame.writeUInt32LE(frame.length - HEADER_BYTES);
  return frame;
}

type Done = (error: Error | null) => void;

/** What is sent in one turn of the event loop goes out in one piece: a write costs more than a frame, at both ends. */
export class FrameWriter {
  #frames: Buffer[] = [];
  #done: Done[] = [];

  constructor(private readonly stream: Writable) {}

  /** `done`: the stream has taken it, or never will. On a stream that is closed nothing is sent. Throws as frameOf() does. */
  write(value: unknown, done?: Done): void {
    if (!this.stream.writable) {
      done?.(null);
      return;
    }
    const frame = frameOf(value);
    if (done !== undefined) this.#done.push(done);
    // After all promises that this turn has settled, and what they settle: a tick that is asked for outside of them comes before them.
    if (this.#frames.push(frame) === 1) queueMicrotask(() => process.nextTick(() => this.#flush()));
  }

  #flush(): void {
    const [first, ...others] = this.#frames.splice(0);
    const all = this.#done.splice(0);
    const done = (error: Error | null | undefined): void => {
      for (const tell of all) tell(error ?? null);
    };
    if (first === undefined || !this.stream.writable) done(null);
    else this.stream.write(others.length === 0 ? first : Buffer.concat([first, ...others]), done);
  }
}

/** Puts frames together again, of pieces of any size. A frame that is too long is refused before it has come. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #wanted = HEADER_BYTES;

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
    const end = HEADER_BYTES + length;
    const isWhole = all.length >= end;
    this.#pieces = [isWhole ? all.subarray(end) : all];
    this.#bytes = all.length - (isWhole ? end : 0);
    this.#wanted = isWhole ? HEADER_BYTES : end;
    return isWhole ? [{ value: deserialize(all.subarray(HEADER_BYTES, end)), bytes: end }] : [];
  }
}
