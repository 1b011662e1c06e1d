/** multipart/form-data with one audio file: streamed to disk and hashed on the way, in bounded memory. */
import type { IncomingMessage } from 'node:http';
import { finished, type Readable } from 'node:stream';
import busboy, { type Busboy } from 'busboy';
import { removeFile } from '../../remove-file.js';
import { VerbatimError } from '../../errors.js';
import { BodyReader, type BodyRules } from './body-reader.js';
import { FileSink } from './file-sink.js';
import { storableName, tooLarge, type UploadedFile } from './uploaded-file.js';

const MOST_BYTES_A_CHARACTER = 4;
/** Boundaries, part headers and text fields around the file. */
const FORM_OVERHEAD_BYTES = 262_144;

/** The fields that a form may have. */
export interface FormRules {
  fileField: string;
  /** Of each the most characters (Unicode code points). */
  textFields: ReadonlyMap<string, number>;
  /** Text fields that may come again and again, also with [] behind their names; default: none. */
  lists?: ReadonlySet<string>;
  /** Other fields are read and ignored; else they are refused. */
  ignoresUnknown?: boolean;
}

/** No list may have more: a field of one byte costs a hundred times as much here. */
const MOST_LIST_ITEMS = 64;

export interface UploadOptions extends BodyRules {
  form: FormRules;
  /** Where the file goes; the caller removes it once receiveUpload has resolved. */
  path: string;
  /** Sees to it that the directory of `path` is there; asked where it is not. */
  ensureDirectory: () => Promise<void>;
  maxFileBytes: number;
}

export interface ReceivedUpload extends UploadedFile {
  fields: ReceivedFields;
}

export interface ReceivedFields {
  /** Those that come once. */
  one: ReadonlyMap<string, string>;
  /** By their names without []; one that did not come is not there. */
  lists: ReadonlyMap<string, readonly string[]>;
}

/** Throws `file_too_large` when Content-Length alone shows it. `isForm`: whether there is more in the body. */
export function refuseOversizedBody(req: IncomingMessage, maxFileBytes: number, isForm: boolean): void {
  const length = Number(req.headers['content-length'] ?? 0);
  if (length > maxFileBytes + (isForm ? FORM_OVERHEAD_BYTES : 0)) throw tooLarge(maxFileBytes);
}

/**
 * Resolves when the whole body has been read. Rejects as soon as the form is wrong, too large or silent for too long,
 * or with signal.reason. The file is gone by then, and the rest of the body stays unread.
 */
export async function receiveUpload(req: IncomingMessage, options: UploadOptions): Promise<ReceivedUpload> {
  const form = new FormReader(req, options);
  try {
    return await form.read();
  } catch (error) {
    await form.stop();
    await removeFile(options.path);
    throw error;
  }
}

class FormReader {
  readonly #parser: Busboy;
  readonly #one = new Map<string, string>();
  readonly #lists = new Map<string, string[]>();
  #file: Promise<UploadedFile> | null = null;
  #sink: FileSink | null = null;
  #bodyBytes = 0;
  readonly #body: BodyReader;

  constructor(
    private readonly req: IncomingMessage,
    private readonly options: UploadOptions,
  ) {
    const mostCharacters = Math.max(...options.form.textFields.values());
    this.#parser = createParser(req, mostCharacters * MOST_BYTES_A_CHARACTER);
    this.#body = new BodyReader(req, options, {
      take: (chunk, done) => this.#take(chunk, done),
      end: () => this.#parser.end(),
    });
  }

  async read(): Promise<ReceivedUpload> {
    try {
      await this.#parse();
      if (this.#file === null) throw invalid(this.options.form.fileField, 'is missing; send one file.');
      return { ...(await this.#file), fields: { one: this.#one, lists: this.#lists } };
    } finally {
      this.#body.stop();
    }
  }

  /** After a failure: no more input, and nobody writes to the file any more. */
  async stop(): Promise<void> {
    this.req.pause();
    this.#parser.on('error', () => undefined);
    this.#parser.destroy();
    await this.#file?.catch(() => undefined);
  }

  #parse(): Promise<void> {
    return new Promise((resolve, reject) => {
      const attempt = (step: () => void): void => {
        try {
          step();
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      this.#parser.on('file', (name, stream, { filename }) => {
        // A stream that is destroyed together with the parser may have no listener left.
        stream.on('error', () => undefined);
        attempt(() => this.#acceptFile(name, stream, filename));
        this.#file?.catch(reject);
      });
      this.#parser.on('field', (name, value, { valueTruncated }) => {
        attempt(() => this.#acceptField(name, value, valueTruncated));
      });
      this.#parser.on('error', (error) => reject(malformed(error)));
      this.#parser.on('close', resolve);
      this.#body.begin(reject);
    });
  }

  #take(chunk: Buffer, done: () => void): void {
    this.#count(chunk);
    this.#parser.write(chunk, () => {
      if (this.#sink === null) done();
      else this.#sink.whenIdle(done);
    });
  }

  /** Parts that the parser skips count as well. */
  #count(chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    const { maxFileBytes } = this.options;
    if (this.#bodyBytes > maxFileBytes + FORM_OVERHEAD_BYTES) throw tooLarge(maxFileBytes);
  }

  #acceptFile(name: string | undefined, stream: Readable, fileName: string | undefined): void {
    const { fileField } = this.options.form;
    if (name !== fileField) {
      if (name !== undefined && this.#known(name) !== null) throw invalid(name, 'must be text, not a file.');
      stream.resume();
      return;
    }
    if (this.#file !== null) throw invalid(name, 'was sent more than once.');
    this.#file = this.#store(stream, storableName(fileName));
  }

  async #store(stream: Readable, fileName: string | null): Promise<UploadedFile> {
    const { path, maxFileBytes: maxBytes, ensureDirectory } = this.options;
    const refuse = (bytes: number): Error | null => (bytes > maxBytes ? tooLarge(maxBytes) : null);
    const sink = new FileSink(path, { refuse, ensureDirectory });
    this.#sink = sink;
    await pour(stream, sink);
    return { bytes: sink.bytes, sha256: sink.sha256(), head: sink.head.text, fileName };
  }

  #acceptField(name: string | undefined, value: string, truncated: boolean): void {
    const { fileField, textFields } = this.options.form;
    if (name === fileField) throw invalid(name, 'must be a file, with a filename.');
    const known = this.#known(name);
    if (known === null) return;
    const most = textFields.get(known.name) ?? 0;
    if (truncated || Array.from(value).length > most) {
      throw invalid(known.name, `may have at most ${most} characters.`);
    }
    if (known.isList) this.#addToList(known.name, value);
    else if (this.#one.has(known.name)) throw invalid(known.name, 'was sent more than once.');
    else this.#one.set(known.name, value);
  }

  #addToList(name: string, value: string): void {
    const list = this.#lists.get(name) ?? [];
    if (list.length === MOST_LIST_ITEMS) throw invalid(name, `may be sent at most ${MOST_LIST_ITEMS} times.`);
    this.#lists.set(name, [...list, value]);
  }

  /** null: to be ignored. */
  #known(name: string | undefined): { name: string; isList: boolean } | null {
    const { fileField, textFields, lists, ignoresUnknown } = this.options.form;
    if (name === undefined) {
      if (ignoresUnknown === true) return null;
      throw malformed(new Error('a part has no name'));
    }
    const bare = name.endsWith('[]') ? name.slice(0, -2) : name;
    if (lists?.has(bare) === true) return { name: bare, isList: true };
    if (textFields.has(name)) return { name, isList: false };
    if (ignoresUnknown === true) return null;
    throw invalid(name, `is unknown; allowed: ${[fileField, ...textFields.keys()].join(', ')}.`);
  }
}

/**
 * Like pipeline(), without its AbortController, which costs more than the rest. Node aborts that at the end with an
 * error. V8 keeps the error's stack until the next full collection, and with it everything that the request refers to.
 */
function pour(stream: Readable, sink: FileSink): Promise<void> {
  return new Promise((resolve, reject) => {
    finished(stream, (error) => {
      if (error) sink.destroy(error);
    });
    finished(sink, (error) => {
      if (!error) resolve();
      else {
        stream.destroy();
        reject(error);
      }
    });
    stream.pipe(sink);
  });
}

function createParser(req: IncomingMessage, maxFieldBytes: number): Busboy {
  try {
    return busboy({
      headers: req.headers,
      defParamCharset: 'utf8',
      // One more than allowed, because the parser calls a field truncated that just reaches its limit.
      limits: { fieldSize: maxFieldBytes + 1 },
    });
  } catch (error) {
    throw malformed(error);
  }
}

function invalid(field: string, problem: string): VerbatimError {
  return new VerbatimError('invalid_request', `The field "${field}" ${problem}`, { param: field });
}

function malformed(cause: unknown): VerbatimError {
  const detail = cause instanceof Error ? cause.message : 'unreadable';
  return new VerbatimError('invalid_request', `The multipart body is malformed: ${detail}.`, { cause });
}
