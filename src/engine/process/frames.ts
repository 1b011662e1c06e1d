/** JSON values on a stream of bytes: of each its length in four bytes, the lowest first, and its text in UTF-8. */
import type { Writable } from 'node:stream';
import { atTurnEnd } from './turn-end.js';

const LENGTH_BYTES = 4;

export interface Frame {
  value: unknown;
  bytes: number;
}

/** Properties that are undefined are left out; a number that is not finite becomes null. */
export function frameOf(value: unknown): Buffer {
  const text = JSON.stringify(value);
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + length);
  frame.writeUInt32LE(length);
  frame.write(text, LENGTH_BYTES);
  return frame;
}

type Done = (error: Error | null) => void;

/** Messages of one turn of the event loop go out in one write: a write costs more than a frame, at both ends. */
export class FrameWriter {
  #frames: Buffer[] = [];
  #done: Done[] = [];

  constructor(private readonly stream: Writable) {}

  /** `done`: the stream has taken it, or never will. Nothing is sent on a stream that is closed. */
  write(value: unknown, done?: Done): void {
    if (!this.stream.writable) {
      done?.(null);
      return;
    }
    const frame = frameOf(value);
    if (done !== undefined) this.#done.push(done);
    if (this.#frames.push(frame) === 1) atTurnEnd(() => this.#flush());
  }

  #flush(): void {
    const frames = this.#frames.splice(0);
    const all = this.#done.splice(0);
    const done = (error: Error | null | undefined): void => {
      for (const notify of all) notify(error ?? null);
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

  /**
   * The values that are complete now, with the bytes of each. Throws an Error for a frame that is no JSON, or too long.
   */
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
    if (!isWhole) return [];
    const value: unknown = JSON.parse(all.toString('utf8', LENGTH_BYTES, end));
    return [{ value, bytes: end }];
  }
}
