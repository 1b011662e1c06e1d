/**
 * A hub with models of random weights, and a model store that gets them from it: a directory, whose registry names
 * them.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Manifest, SpeechModelEntry } from '../../src/models/manifest.js';
import { IMPORTED_FILE, readManifest } from '../../src/models/read-manifest.js';
import type { StoreRoots } from '../../src/models/store.js';
import { packageRoot } from '../../src/package-root.js';
import { Mulberry32 } from './random.js';

const MIB = 1 << 20;

export class ModelHub {
  readonly directory = mkdtempSync(join(tmpdir(), 'verbatim-hub-'));
  /** Byte at which each request for a range began. */
  readonly starts: number[] = [];
  /** Of the file, to be sent before the answer waits; Infinity: nothing waits. */
  sentBytes = Infinity;
  /** Whether it breaks every connection where it would wait. */
  isBroken = false;
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #waiting = new Map<ServerResponse, Buffer>();

  private constructor(readonly content: Buffer) {}

  /** `content`: of every model. */
  static async start(content = new Mulberry32(1).bytes(3 * MIB)): Promise<ModelHub> {
    const hub = new ModelHub(content);
    await new Promise<void>((resolve) => hub.#server.listen(0, '127.0.0.1', resolve));
    return hub;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  /** Names models in the registry, all of the same content. */
  register(
    names: readonly string[],
    more: { [name in keyof SpeechModelEntry]?: SpeechModelEntry[name] | undefined } = {},
  ): void {
    const sha1 = createHash('sha1').update(this.content).digest('hex');
    const models = names.map((name) => ({
      ...{ name, kind: 'speech', file: `ggml-${name}.bin`, size: this.content.length, sha1 },
      ...{ url: `${this.url}/${name}`, licence: 'MIT', source: 'test' },
      ...{ languages: ['en'], windows: 'full', ...more },
    }));
    writeFileSync(join(this.directory, IMPORTED_FILE), JSON.stringify({ models }));
  }

  readonly context = (): { roots: StoreRoots; manifest: Manifest } => ({
    roots: { packageRoot, modelsDir: this.directory },
    manifest: readManifest(packageRoot, this.directory),
  });

  /** What waits is sent, and nothing waits any more. */
  release(): void {
    this.sentBytes = Infinity;
    for (const [response, rest] of this.#waiting) response.end(rest);
    this.#waiting.clear();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.directory, { recursive: true, force: true });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
    const start = Number(range?.[1] ?? 0);
    this.starts.push(start);
    const { length } = this.content;
    response.writeHead(range === null ? 200 : 206, {
      'content-length': length - start,
      ...(range === null ? {} : { 'content-range': `bytes ${start}-${length - 1}/${length}` }),
    });
    const stop = Math.max(start, Math.min(this.sentBytes, length));
    const rest = this.content.subarray(stop);
    if (rest.length === 0) response.end(this.content.subarray(start));
    else {
      response.write(this.content.subarray(start, stop), () => {
        if (this.isBroken) response.destroy();
        else this.#waiting.set(response, rest);
      });
    }
  }
}
