/** Two processes that download the same model into one directory, from a hub of this test. */
import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verbatim } from '../support/built.js';
import { until } from '../support/until.js';
import { writeParakeetModel } from '../support/parakeet-model.js';

/** Nobody says what size and checksum it has, so any bytes will do. */
const NAME = 'parakeet-tdt-0.6b-v2';

interface Pull {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  ended: Promise<number | null>;
}

describe('A directory of models that two processes share', function () {
  this.timeout(60_000);
  let directory: string;
  let hub: Server;
  let answer: Buffer;
  let ranges: (string | undefined)[];
  /** Half of the file has been sent; the rest follows when it is called. */
  let finish: () => void;

  before(() => {
    const place = mkdtempSync(join(tmpdir(), 'verbatim-hub-'));
    writeParakeetModel(join(place, 'model.bin'));
    answer = readFileSync(join(place, 'model.bin'));
    rmSync(place, { recursive: true });
  });
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-shared-'));
    ranges = [];
    finish = () => undefined;
    hub = createServer(({ headers }, response) => {
      ranges.push(headers.range);
      const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
      sendHalf(response, start);
    });
    hub.listen(0, '127.0.0.1');
    await once(hub, 'listening');
  });
  afterEach(() => {
    hub.closeAllConnections();
    hub.close();
    rmSync(directory, { recursive: true });
  });

  function sendHalf(response: ServerResponse, start: number): void {
    const range = `bytes ${start}-${answer.length - 1}/${answer.length}`;
    const length = { 'content-length': answer.length - start };
    if (start === 0) response.writeHead(200, length);
    else response.writeHead(206, { ...length, 'content-range': range });
    const half = Math.max(start, Math.floor(answer.length / 2));
    response.write(answer.subarray(start, half));
    finish = () => response.end(answer.subarray(half));
    if (start > 0) finish();
  }

  function pull(): Pull {
    const { port } = hub.address() as AddressInfo;
    const child = spawn(process.execPath, verbatim('models', 'pull', NAME), {
      env: { ...process.env, VERBATIM_MODELS_DIR: directory, HF_ENDPOINT: `http://127.0.0.1:${port}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    const ended = once(child, 'close').then(([status]) => status as number | null);
    return { child, output, ended };
  }

  it('gets it once: the second waits for the first', async () => {
    const first = pull();
    await until(() => ranges.length === 1);
    const second = pull();
    await until(() => second.output.stderr.includes('Waiting'));
    finish();
    expect([await first.ended, await second.ended]).to.deep.equal([0, 0]);
    expect(ranges).to.deep.equal([undefined]);
    expect(second.output.stderr).to.equal(`Another process is downloading ${NAME}. Waiting for it.\n`);
    expect(first.output.stdout).to.match(/is installed \(/);
    expect(second.output.stdout).to.match(/ already\n$/);
    expect(readdirSync(directory).filter((name) => /lock|part/.test(name))).to.deep.equal([]);
  });

  it('gets it from the second where the first is killed, from where it stopped', async () => {
    const first = pull();
    await until(() => ranges.length === 1);
    const second = pull();
    await until(() => second.output.stderr.includes('Waiting'));
    await until(() => readdirSync(directory).some((name) => name.endsWith('.part')));
    first.child.kill('SIGKILL');
    expect(await second.ended, second.output.stderr).to.equal(0);
    expect(ranges).to.have.length(2);
    expect(readdirSync(directory).filter((name) => /lock|part/.test(name))).to.deep.equal([]);
  });
});
