/** A hub of this machine with models of the published sizes. It can be stopped midway, and started again. */
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { loadBinding } from '../../../src/engine/binding.js';
import { CANDIDATES } from '../../../src/models/automatic-model.js';
import { findModel } from '../../../src/models/manifest.js';
import { IMPORTED_FILE, readManifest } from '../../../src/models/read-manifest.js';
import { modelBytes } from '../../../src/models/store.js';
import { packageRoot } from '../../../src/package-root.js';

/** Of a window. */
const TEXT_TOKENS = 24;
/** It has the published size and nothing else: no engine loads it. */
export const TURBO = 'large-v3-turbo-q8_0';
const SPOILT_BYTES = 16;

interface PublishedFile {
  path: string;
  size: number;
  sha1: string;
}

export class PublishedHub {
  readonly #directory = mkdtempSync(join(tmpdir(), 'verbatim-published-'));
  readonly #files = new Map<string, PublishedFile>();
  #server = createServer();
  #port = 0;
  #release: () => void = () => undefined;
  #held: Promise<void> = Promise.resolve();
  /** Bytes of a file that are sent before the answer waits for release(). */
  #heldAt = Infinity;
  /** Where each answer with a file began. */
  readonly starts: { model: string; byte: number }[] = [];
  /** Whether files arrive with other bytes at their end. */
  isSpoilt = false;

  /** `models`: that it has, of the candidates. */
  static async start(models = CANDIDATES.map(({ model }) => model)): Promise<PublishedHub> {
    const hub = new PublishedHub();
    await hub.#make(models);
    await hub.startAgain();
    return hub;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Writes a registry of its models: they go before those of the manifest that have the same names. */
  register(modelsDir: string): void {
    const models = [...this.#files].map(([name, { size, sha1 }]) => ({
      ...{ name, kind: 'speech', file: `ggml-${name}.bin`, size, sha1, url: `${this.url}/${name}` },
      ...{ licence: 'MIT', source: 'random weights', languages: 'whisper', windows: 'full' },
    }));
    mkdirSync(modelsDir, { recursive: true });
    writeFileSync(join(modelsDir, IMPORTED_FILE), JSON.stringify({ models }));
  }

  holdAt(bytes: number): void {
    this.#heldAt = bytes;
    this.#held = new Promise((resolve) => (this.#release = resolve));
  }

  release(): void {
    this.#heldAt = Infinity;
    this.#release();
  }

  /** As a server that is stopped: what is being sent breaks off. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** On the same port; where it runs, it goes on. */
  async startAgain(): Promise<void> {
    if (this.#server.listening) return;
    this.#server = createServer((request, response) => {
      // Whoever hangs up gets no more.
      this.#answer(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.release();
    if (this.#server.listening) await this.stop();
    rmSync(this.#directory, { recursive: true });
  }

  async #make(models: readonly string[]): Promise<void> {
    const manifest = readManifest(packageRoot, '/nonexistent');
    for (const { model, shape } of CANDIDATES.filter((candidate) => models.includes(candidate.model))) {
      const path = join(this.#directory, model);
      const published = modelBytes(findModel(manifest, model)) ?? 0;
      writeFileSync(path, '');
      if (model === TURBO) truncateSync(path, published);
      else await loadBinding().writeRandomModel(path, { shape, weights: 'q8_0', textTokens: TEXT_TOKENS });
      const { size } = statSync(path);
      const sha1 = await checksum(path, 'sha1');
      const sha256 = (await checksum(path, 'sha256')).slice(0, 16);
      console.log(`      the hub has ${model}: ${size} bytes (published: ${published}), SHA-256 ${sha256}`);
      this.#files.set(model, { path, size, sha1 });
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const file = this.#files.get((request.url ?? '').slice(1));
    if (request.method === 'HEAD' || file === undefined) {
      response.writeHead(file === undefined && request.url !== '/' ? 404 : 200).end();
      return;
    }
    const { path, size } = file;
    const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
    const start = Number(range?.[1] ?? 0);
    this.starts.push({ model: (request.url ?? '').slice(1), byte: start });
    response.writeHead(range === null ? 200 : 206, {
      'content-length': size - start,
      ...(range === null ? {} : { 'content-range': `bytes ${start}-${size - 1}/${size}` }),
    });
    const end = this.isSpoilt ? size - SPOILT_BYTES : size;
    const stop = Math.max(start, Math.min(this.#heldAt, end));
    if (stop > start) await pipeline(createReadStream(path, { start, end: stop - 1 }), response, { end: false });
    await this.#held;
    if (end > stop) await pipeline(createReadStream(path, { start: stop, end: end - 1 }), response, { end: false });
    response.end(Buffer.alloc(size - end, 0xaa));
  }
}

async function checksum(path: string, algorithm: string): Promise<string> {
  const hash = createHash(algorithm);
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
