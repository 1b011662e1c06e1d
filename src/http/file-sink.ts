/** The end of an upload: its bytes are hashed and written, and their memory is given back as soon as they are on the disk. */
import { createHash } from 'node:crypto';
import { createWriteStream, type WriteStream } from 'node:fs';
import { Writable } from 'node:stream';
import { release } from './dead-bytes.js';

type Done = (error?: Error | null) => void;

/** Nobody may read a chunk again that has been written here. */
export class FileSink extends Writable {
  bytes = 0;
  #onIdle: (() => void) | null = null;
  readonly #hash = createHash('sha256');
  readonly #file: WriteStream;
  readonly #refuse: (bytes: number) => Error | null;

  /** `refuse` is told how many bytes there are so far; the file must not be there yet. */
  constructor(path: string, refuse: (bytes: number) => Error | null) {
    super();
    this.#refuse = refuse;
    this.#file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    this.#file.on('error', (error) => this.destroy(error));
  }

  /** Calls when nothing waits to be written, which may be now, and never after a failure. ("drain" is not told at the end.) */
  whenIdle(call: () => void): void {
    this.#onIdle = () => {
      this.#onIdle = null;
      call();
    };
    if (this.writableLength === 0) this.#onIdle();
  }

  /** Once all is written. */
  sha256(): string {
    return this.#hash.digest('hex');
  }

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    this.bytes += chunk.length;
    const refusal = this.#refuse(this.bytes);
    if (refusal !== null) {
      done(refusal);
      return;
    }
    this.#hash.update(chunk);
    this.#file.write(chunk, (error) => {
      if (!error) release(chunk);
      done(error);
      if (!error && this.writableLength === 0) this.#onIdle?.();
    });
  }

  override _final(done: Done): void {
    this.#file.end(done);
  }

  override _destroy(error: Error | null, done: Done): void {
    if (this.#file.closed) {
      done(error);
      return;
    }
    this.#file.once('close', () => done(error));
    this.#file.destroy();
  }
}
