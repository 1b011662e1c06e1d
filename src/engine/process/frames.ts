/** Values on a stream of bytes: of each its length in four bytes, and what the structured clone algorithm makes of it. */
import type { Writable } from 'node:stream';
import { deserialize, serialize } from 'node:v8';

const HEADER_BYTES = 4;

export interface Frame {
  value: unknown;
  bytes: number;
}

export function frameOf(value: unknown): Buffer {
  const body = serialize(value);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(body.length);
  return Buffer.concat([header, body]);
}

/** What is sent in one turn of the event loop goes out in one write: a system call costs more than a frame, at both ends. */
export class FrameWriter {
  #isHeld = false;

  constructor(private readonly stream: Writable) {}

  /** `done`: the stream has taken it, or never will. On a stream that is closed nothing is sent. */
  write(value: unknown, done?: (error: Error | null) => void): void {
    if (!this.stream.writable) {
      done?.(null);
      return;
    }
    this.#hold();
    this.stream.write(frameOf(value), (error) => done?.(error ?? null));
  }

  #hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.stream.cork();
    // After all promises that this turn has settled, and what they settle: a tick that is asked for outside of them comes before them.
    queueMicrotask(() => process.nextTick(() => this.#release()));
  }

  #release(): void {
    this.#isHeld = false;
    this.stream.uncork();
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
