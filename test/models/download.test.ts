import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { downloadModel, type DownloadOptions } from '../../src/models/download.js';
import type { SpeechModelEntry } from '../../src/models/manifest.js';
import { isInstalled, verifyModel } from '../../src/models/store.js';
import { ManualTimers } from '../support/manual-timers.js';
import { until } from '../support/until.js';

const content = Buffer.alloc(300_000, 'weights ');
const sha1 = createHash('sha1').update(content).digest('hex');

const entry: SpeechModelEntry = {
  name: 'toy',
  kind: 'speech',
  file: 'ggml-toy.bin',
  size: content.length,
  sha1,
  url: '/owner/repository/resolve/main/ggml-toy.bin',
  licence: 'MIT',
  source: 'test',
  languages: ['en'],
  windows: 'full',
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const serveRanges: Handler = (request, response) => {
  const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
  const start = range === null ? 0 : Number(range[1]);
  const headers = { 'content-length': content.length - start };
  if (range === null) response.writeHead(200, headers);
  else
    response.writeHead(206, {
      ...headers,
      'content-range': `bytes ${start}-${content.length - 1}/${content.length}`,
    });
  response.end(content.subarray(start));
};

describe('downloading a model', () => {
  let directory: string;
  let server: Server;
  let handler: Handler;
  let requests: IncomingMessage[];
  const roots = (): { packageRoot: string; modelsDir: string } => ({
    packageRoot: '/nowhere',
    modelsDir: directory,
  });
  const download = (options: Partial<DownloadOptions> = {}) =>
    downloadModel(entry, {
      roots: roots(),
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      ...options,
    });
  const failure = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'no error',
      (error: unknown) => (error as Error).message,
    );

  beforeEach((done) => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-models-'));
    requests = [];
    handler = serveRanges;
    server = createServer((request, response) => {
      requests.push(request);
      handler(request, response);
    });
    server.listen(0, '127.0.0.1', done);
  });

  afterEach((done) => {
    rmSync(directory, { recursive: true });
    server.closeAllConnections();
    server.close(() => done());
  });

  it('fetches, verifies and renames, and leaves what is right alone', async () => {
    const seen: number[] = [];
    await download({ onProgress: (_file, received) => seen.push(received) });
    expect(readFileSync(join(directory, 'ggml-toy.bin')).equals(content)).to.equal(true);
    expect(existsSync(join(directory, 'ggml-toy.bin.part'))).to.equal(false);
    expect(seen.at(-1)).to.equal(content.length);
    expect(isInstalled(roots(), entry)).to.equal(true);
    expect(await download()).to.deep.equal([]);
    expect(requests).to.have.length(1);
    expect(requests[0]?.url).to.equal('/owner/repository/resolve/main/ggml-toy.bin');
  });

  it('sends the token to the hub, and to nobody else', async () => {
    const { port } = server.address() as AddressInfo;
    const tokenSent = async (endpoint: string, url: string): Promise<string | undefined> => {
      rmSync(join(directory, 'ggml-toy.bin'), { force: true });
      await downloadModel({ ...entry, url }, { roots: roots(), endpoint, token: 'secret' });
      return requests.at(-1)?.headers.authorization;
    };
    expect(await tokenSent(`http://127.0.0.1:${port}`, '/toy')).to.equal('Bearer secret');
    expect(await tokenSent('http://hub.example', `http://127.0.0.1:${port}/toy`)).to.equal(undefined);
  });

  it('resumes a part file from where it stopped', async () => {
    writeFileSync(join(directory, 'ggml-toy.bin.part'), content.subarray(0, 123_456));
    await download();
    expect(requests[0]?.headers.range).to.equal('bytes=123456-');
    expect(readFileSync(join(directory, 'ggml-toy.bin')).equals(content)).to.equal(true);
  });

  describe('from a hub that stops midway', () => {
    let timers: ManualTimers;
    let isUp: boolean;

    beforeEach(() => {
      timers = new ManualTimers();
      isUp = true;
      handler = (request, response) => {
        if (requests.length > 1) {
          if (isUp) serveRanges(request, response);
          else response.destroy();
          return;
        }
        response.writeHead(200, { 'content-length': content.length });
        response.write(content.subarray(0, 100_000));
        const part = join(directory, 'ggml-toy.bin.part');
        const begun = (): boolean => (statSync(part, { throwIfNoEntry: false })?.size ?? 0) > 0;
        void until(begun).then(() => response.destroy());
      };
    });

    async function pass(milliseconds: number): Promise<void> {
      await timers.untilWaiting(milliseconds);
      timers.pass(milliseconds);
    }

    it('resumes by itself after a second', async () => {
      const downloaded = download({ timers });
      await pass(1000);
      await downloaded;
      expect(requests).to.have.length(2);
      expect(requests[1]?.headers.range).to.match(/^bytes=[1-9]\d*-$/);
      expect(readFileSync(join(directory, 'ggml-toy.bin')).equals(content)).to.equal(true);
    });

    it('waits longer each time while it is away', async () => {
      isUp = false;
      const downloaded = download({ timers });
      for (const milliseconds of [1000, 2000]) await pass(milliseconds);
      await timers.untilWaiting(4000);
      isUp = true;
      timers.pass(3999);
      expect(requests).to.have.length(3);
      timers.pass(1);
      await downloaded;
      expect(new Set(requests.slice(1).map(({ headers }) => headers.range))).to.have.length(1);
      expect(readFileSync(join(directory, 'ggml-toy.bin')).equals(content)).to.equal(true);
    });

    it('gives up after 15 s, and leaves what it has', async () => {
      isUp = false;
      const failed = failure(download({ timers }));
      for (const milliseconds of [1000, 2000, 4000, 8000]) await pass(milliseconds);
      expect(await failed).to.contain('cannot be reached');
      expect(requests).to.have.length(5);
      expect(existsSync(join(directory, 'ggml-toy.bin.part'))).to.equal(true);
    });

    it('ends at once when it is told to', async () => {
      const abort = new AbortController();
      const failed = failure(download({ timers, signal: abort.signal }));
      await timers.untilWaiting(1000);
      abort.abort();
      expect(await failed).to.contain('aborted');
      expect(requests).to.have.length(1);
      expect(timers.pending).to.equal(0);
    });
  });

  it('starts afresh when the server knows no ranges', async () => {
    writeFileSync(join(directory, 'ggml-toy.bin.part'), Buffer.alloc(1000, 'x'));
    handler = (_request, response) => response.writeHead(200, { 'content-length': content.length }).end(content);
    await download();
    expect(readFileSync(join(directory, 'ggml-toy.bin')).equals(content)).to.equal(true);
  });

  it('refuses a file with a wrong checksum and leaves nothing behind', async () => {
    const wrong = Buffer.from(content);
    wrong[1000] = 0;
    handler = (_request, response) => response.writeHead(200, { 'content-length': wrong.length }).end(wrong);
    expect(await failure(download())).to.match(/has sha1 [0-9a-f]{40} instead of [0-9a-f]{40}/);
    expect(existsSync(join(directory, 'ggml-toy.bin'))).to.equal(false);
    expect(existsSync(join(directory, 'ggml-toy.bin.part'))).to.equal(false);
  });

  it('refuses a server that sends more than the manifest says', async () => {
    const longer = Buffer.concat([content, content]);
    handler = (_request, response) => response.writeHead(200).end(longer);
    expect(await failure(download())).to.contain('more than the 300000 bytes');
    expect(existsSync(join(directory, 'ggml-toy.bin'))).to.equal(false);
  });

  it('names the status of a server that has no such file, without trying again', async () => {
    handler = (_request, response) => response.writeHead(404).end();
    expect(await failure(download())).to.contain('answered 404');
    expect(requests).to.have.length(1);
  });

  it('tries again after a server error', async () => {
    let failures = 2;
    handler = (request, response) =>
      failures-- > 0 ? void response.writeHead(503).end() : serveRanges(request, response);
    await download();
    expect(requests).to.have.length(3);
  });

  it('says what a damaged installed file has instead', async () => {
    await download();
    writeFileSync(join(directory, 'ggml-toy.bin'), content.subarray(0, 10));
    expect(await verifyModel(roots(), entry)).to.deep.equal([
      { file: 'ggml-toy.bin', checked: 'checksum', ok: false, problem: 'has 10 bytes instead of 300000' },
    ]);
  });
});
