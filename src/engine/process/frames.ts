/** JSON values on a byte stream. Each is its length in four bytes, lowest first, then its text in UTF-8. */
import type { Writable } from 'node:stream';
import { atTurnEnd } from './turn-end.js';

const LENGTH_BYTES = 4;

export interface Frame {
  value: unknown;
  bytes: number;
}

/** Undefined properties are left out. A number that is not finite becomes null. */
export function frameOf(value: unknown): Buffer {
  const text = JSON.stringify(value);
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + length);
  frame.writeUInt32LE(length);
  frame.write(text, LENGTH_BYTES);
  return frame;
}

type Done = (error: Error | null) => void;

/**
 * Messages of one turn of the event loop are sent in one write, because a write costs more than a frame on both sides.
 */
export class FrameWriter {
  #frames: Buffer[] = [];
  #done: Done[] = [];

  constructor(private readonly stream: Writable) {}

  /** `done`: called when the stream has taken the frame, or never will. A closed stream sends nothing. */
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

/** Reassembles frames from pieces of any size. Refuses a frame as soon as its length is known to be too large. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #wanted = LENGTH_BYTES;

  constructor(private readonly mostBytes: number) {}

  /**
   * Returns the values that are complete now, with the size of each. Throws an Error if a frame is too long or not
   * JSON.
   */
  push(piece: Buffer): Frame[] {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    const frames: Frame[] = [];
    while (this.#bytes >= this.#wanted) frames.push(...this.#next());
    return frames;
  }

  /** Empty if only the length has arrived. */
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
