/**
 * Downloads a model's files. Each is written to `.part`, can be resumed, is checked for size and checksum, and is then
 * renamed.
 */
import { once } from 'node:events';
import { createWriteStream, existsSync, renameSync, rmSync, statSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EnvHttpProxyAgent, fetch, type Response } from 'undici';
import { PauseLength, Pauses } from '../growing-pause.js';
import { makeDirectory, SHARED } from '../make-directory.js';
import { systemTimers, type Timers } from '../timers.js';
import type { ModelEntry, ModelFile } from './manifest.js';
import { removePackedWeights } from './packed-weights.js';
import { fileProblem, modelFiles, modelRoot, type StoreRoots } from './store.js';

export interface DownloadOptions {
  roots: StoreRoots;
  /** The model hub. Paths in the manifest are relative to it. */
  endpoint: string;
  /** Bearer token for gated files. */
  token?: string | null;
  onProgress?: (file: string, receivedBytes: number, totalBytes: number | null) => void;
  signal?: AbortSignal;
  timers?: Timers;
}

/** Consecutive attempts while the hub sends nothing. */
const ATTEMPTS = 3;
/**
 * Consecutive attempts without a new byte, after a download has begun. The hub may be restarting, or the network
 * recovering.
 */
const ATTEMPTS_MIDWAY = 5;
const PAUSE_MIDWAY = { firstMs: 1000, longestMs: 8000 };
const SPARE_BYTES = 64 << 20;

/** Leaves files alone that are present and correct. Throws an Error whose message says what to do. */
export async function downloadModel(entry: ModelEntry, options: DownloadOptions): Promise<string[]> {
  const root = modelRoot(options.roots, entry);
  const fetched: string[] = [];
  for (const file of modelFiles(entry)) {
    const path = join(root, file.file);
    if (existsSync(path) && (await fileProblem(path, file)) === null) continue;
    if (file.url === undefined) {
      throw new Error(
        `${path} is missing or damaged, and "${entry.name}" is bundled or imported: there is nothing to pull.`,
      );
    }
    await downloadFile(file, path, options);
    fetched.push(path);
  }
  return fetched;
}

async function downloadFile(file: ModelFile, path: string, options: DownloadOptions): Promise<void> {
  makeDirectory(dirname(path), SHARED);
  const part = `${path}.part`;
  const url = new URL(file.url ?? '', options.endpoint);
  await receiveAll(url, file, part, options);
  const problem = await fileProblem(part, file);
  if (problem !== null) {
    rmSync(part, { force: true });
    throw new Error(`${url.href} was refused: the file ${problem}. The download was removed; try again.`);
  }
  renameSync(part, path);
  removePackedWeights(path);
}

async function receiveAll(url: URL, file: ModelFile, part: string, options: DownloadOptions): Promise<void> {
  const pauses = new Pauses(options.timers ?? systemTimers);
  const length = new PauseLength(PAUSE_MIDWAY);
  options.signal?.addEventListener('abort', () => pauses.wake(), { once: true });
  let isMidway = false;
  for (let failures = 0; ;) {
    const before = bytesIn(part);
    try {
      await receive(url, file, part, options);
      return;
    } catch (error) {
      if (bytesIn(part) > before) {
        [isMidway, failures] = [true, 0];
        length.reset();
      }
      failures += 1;
      const isLast = failures === (isMidway ? ATTEMPTS_MIDWAY : ATTEMPTS);
      if (error instanceof PermanentError || options.signal?.aborted === true || isLast) throw error;
      if (isMidway) await pauses.pause(length.next());
    }
  }
}

function bytesIn(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

class PermanentError extends Error {}

/**
 * Appends the missing bytes to the part file. Starts again if the server does not support ranges or its file has
 * changed.
 */
async function receive(url: URL, file: ModelFile, part: string, options: DownloadOptions): Promise<void> {
  let offset = bytesIn(part);
  if (file.size !== undefined && offset === file.size) return;
  if (file.size !== undefined && offset > file.size) offset = 0;
  const response = await request(url, offset, options);
  if (response.status === 416) {
    rmSync(part, { force: true });
    throw new Error(`${url.href} does not continue at byte ${offset}.`);
  }
  if (response.status !== 200 && response.status !== 206) {
    await response.body?.cancel();
    const message = `${url.href} answered ${response.status} ${response.statusText}.`;
    throw response.status >= 500 || response.status === 429 ? new Error(message) : new PermanentError(message);
  }
  if (response.status === 200 || !continuesAt(response, offset)) offset = 0;
  const rest = contentLength(response);
  const total = file.size ?? (rest === null ? null : offset + rest);
  if (total !== null) checkSpace(dirname(part), total - offset);
  await save(response, part, offset, total, file, options);
  const received = statSync(part).size;
  if (total !== null && received !== total) throw new Error(`${url.href} ended after ${received} of ${total} bytes.`);
}

async function request(url: URL, offset: number, options: DownloadOptions): Promise<Response> {
  const headers: Record<string, string> = { 'user-agent': 'verbatim', 'accept-encoding': 'identity' };
  if (offset > 0) headers['range'] = `bytes=${offset}-`;
  // Only the hub gets the token. A whole URL in the manifest may lead to another server.
  const isHub = url.origin === new URL(options.endpoint).origin;
  if (options.token && isHub) headers['authorization'] = `Bearer ${options.token}`;
  try {
    return await fetch(url, {
      headers,
      dispatcher: new EnvHttpProxyAgent(),
      ...(options.signal ? { signal: options.signal } : {}),
    });
  } catch (error) {
    const cause = (error as Error).cause as Error | undefined;
    throw new Error(`${url.href} cannot be reached: ${cause?.message ?? (error as Error).message}`, {
      cause: error,
    });
  }
}

async function save(
  response: Response,
  part: string,
  offset: number,
  total: number | null,
  file: ModelFile,
  options: DownloadOptions,
): Promise<void> {
  if (response.body === null) throw new Error('The server sent no body.');
  let received = offset;
  const limit = file.size ?? Number.POSITIVE_INFINITY;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      options.onProgress?.(file.file, received, total);
      if (received > limit) done(new PermanentError(`The server sent more than the ${limit} bytes of ${file.file}.`));
      else done(null, chunk);
    },
  });
  const sink = createWriteStream(part, offset > 0 ? { flags: 'a' } : { flags: 'w' });
  const source = Readable.fromWeb(response.body);
  try {
    await pipeline(source, meter, sink, options.signal ? { signal: options.signal } : {});
  } finally {
    // A write may still be under way when the connection breaks. The part file has its final size only after the stream
    // has closed.
    if (!sink.closed) await once(sink, 'close');
  }
}

function continuesAt(response: Response, offset: number): boolean {
  if (offset === 0) return true;
  const range = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '');
  if (range === null || Number(range[1]) !== offset) {
    throw new Error(`The server answered a range that does not begin at byte ${offset}.`);
  }
  return true;
}

function contentLength(response: Response): number | null {
  const value = response.headers.get('content-length');
  return value !== null && /^\d+$/.test(value) ? Number(value) : null;
}

function checkSpace(directory: string, needed: number): void {
  const { bavail, bsize } = statfsSync(directory);
  const free = bavail * bsize;
  if (needed + SPARE_BYTES > free) {
    const mib = (bytes: number): string => `${Math.ceil(bytes / (1 << 20))} MiB`;
    throw new PermanentError(`${directory} has ${mib(free)} free, but ${mib(needed + SPARE_BYTES)} are needed.`);
  }
}
