/**
 * The attack of clients that pipeline requests and read nothing, on `verbatim serve` as its own process (so `npm run
 * build` first): what it costs in memory, and what another client's clip waits. No key is needed for it.
 */
import { connect, type Socket } from 'node:net';
import { openAsBlob } from 'node:fs';
import { expect } from 'chai';
import { Agent, FormData, request } from 'undici';
import { peakMemoryBytes, residentBytes } from '../../bench/processes/process-usage.js';
import { startVerbatim, type VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import { sample } from '../support/speech.js';
import { builtMain } from './built-main.js';

const MEBIBYTE = 1024 * 1024;
const REQUEST = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: attacked\r\n\r\n';
/** The attack comes from 127.0.0.1. */
const other = new Agent({ connect: { localAddress: '127.0.0.2' }, headersTimeout: 0 });

describe('Answers that nobody reads', () => {
  let server: VerbatimProcess;
  let sockets: Socket[] = [];

  beforeEach(async () => {
    server = await startVerbatim({
      main: builtMain,
      env: { VERBATIM_SLOTS: '1', VERBATIM_MAX_CONNECTIONS_PER_ADDRESS: '256' },
    });
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets = [];
    await server.stop();
  });

  function attack(connections: number, requests: number): void {
    const { port } = new URL(server.url);
    for (let n = 0; n < connections; n++) {
      const socket = connect(Number(port), '127.0.0.1').pause();
      socket.on('error', () => undefined);
      socket.write(REQUEST.repeat(requests));
      sockets.push(socket);
    }
  }

  async function clipMs(): Promise<number> {
    const body = new FormData();
    body.append('audio', await openAsBlob(sample('en-wav16.wav').path), 'clip.wav');
    const start = performance.now();
    const headers = { authorization: `Bearer ${server.keys[0]}` };
    const url = `${server.url}/api/v1/transcribe`;
    const answer = await request(url, { method: 'POST', headers, body, dispatcher: other });
    expect(answer.statusCode, await answer.body.text()).to.equal(200);
    return performance.now() - start;
  }

  for (const [connections, requests] of [
    [200, 8],
    [300, 20],
  ] as const) {
    it(`${connections} connections of ${requests} requests cost less than 120 MiB and no other client's time`, async () => {
      const idle: number[] = [];
      for (let n = 0; n < 7; n++) idle.push(await clipMs());
      const idleMs = median(idle.slice(2));
      const before = residentBytes(server.pid);
      attack(connections, requests);
      const during: number[] = [];
      for (const end = performance.now() + 10_000; performance.now() < end;) during.push(await clipMs());
      const more = (peakMemoryBytes(server.pid) - before) / MEBIBYTE;
      process.stdout.write(
        `      ${connections} x ${requests}: ${more.toFixed(0)} MiB more; a clip ${idleMs.toFixed(0)} ms, ` +
          `during it ${median(during).toFixed(0)} ms, ${Math.max(...during).toFixed(0)} ms at worst\n`,
      );
      expect(more).to.be.below(120);
      expect(Math.max(...during)).to.be.below(10 * idleMs + 500);
    });
  }
});

function median(values: readonly number[]): number {
  return values.toSorted((one, another) => one - another)[Math.floor(values.length / 2)] ?? NaN;
}
