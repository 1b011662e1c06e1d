/**
 * The end of an upload: its bytes are hashed and written, and their memory is released as soon as they are on the
 * disk.
 */
import { createHash } from 'node:crypto';
import { createWriteStream, open, type WriteStream } from 'node:fs';
import { promisify } from 'node:util';
import { Writable } from 'node:stream';
import { FileHead } from '../../engine/media/containers.js';
import { release } from '../connections/dead-bytes.js';

type Done = (error?: Error | null) => void;

export interface FileSinkOptions {
  /** Called with the bytes that there are so far. */
  refuse: (bytes: number) => Error | null;
  /** Makes the directory that the file is in; asked when it turns out not to be there. */
  ensureDirectory: () => Promise<void>;
}

/** Nobody may read a chunk again that has been written here. */
export class FileSink extends Writable {
  bytes = 0;
  readonly head = new FileHead();
  #onIdle: (() => void) | null = null;
  readonly #hash = createHash('sha256');
  #file: WriteStream | null = null;

  /** The file must not be there yet. */
  constructor(
    private readonly path: string,
    private readonly options: FileSinkOptions,
  ) {
    super();
  }

  /**
   * Calls when nothing waits to be written, which may be now, and never after a failure. ("drain" is not emitted at the
   * end.)
   */
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

  override _construct(done: Done): void {
    openNew(this.path, this.options.ensureDirectory).then((fd) => {
      this.#file = createWriteStream(this.path, { fd });
      this.#file.on('error', (error) => this.destroy(error));
      done();
    }, done);
  }

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    this.bytes += chunk.length;
    const refusal = this.options.refuse(this.bytes);
    if (refusal !== null) {
      done(refusal);
      return;
    }
    this.#hash.update(chunk);
    this.head.add(chunk);
    this.#file?.write(chunk, (error) => {
      if (!error) release(chunk);
      done(error);
      if (!error && this.writableLength === 0) this.#onIdle?.();
    });
  }

  override _final(done: Done): void {
    this.#file?.end(done);
  }

  override _destroy(error: Error | null, done: Done): void {
    if (this.#file === null || this.#file.closed) {
      done(error);
      return;
    }
    this.#file.once('close', () => done(error));
    this.#file.destroy();
  }
}

const openFile = promisify(open);

/** Rejects where it is there already. */
async function openNew(path: string, ensureDirectory: () => Promise<void>): Promise<number> {
  try {
    return await openFile(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await ensureDirectory();
    return openFile(path, 'wx', 0o600);
  }
}
