/**
 * Files that crash the engine, each different from the others, beside a client with short clips: `verbatim serve` as
 * its own process (so `npm run build` first; ATTACKED_MAIN names the main.js of another build). No file is known that
 * crashes the engine: a module that the engine's process loads first makes marked files crash it.
 */
import { expect } from 'chai';
import { setMaxListeners } from 'node:events';
import { mkdtempSync, openAsBlob, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, FormData, request } from 'undici';
import { startVerbatim, type VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import { sample } from '../support/speech.js';
import { quantile } from './quantile.js';
import { attackedMain } from './built-main.js';

const ATTACKERS = 4;
const CONNECTIONS = 64;
const JOBS = 100;
const ATTACK_MS = 60_000;
const CLIP_TIMEOUT_MS = 10_000;
const MARK = 'crashes the engine';
/** A clip beside the attack, by the clip of an idle server. */
const MOST_SLOWDOWN = 5;

/** CommonJS: the process that loads it may run compiled code only. */
const CRASHING_MODULE = `
const { readFileSync } = require('node:fs');
const load = process.dlopen;
process.dlopen = function (module, ...rest) {
  load.call(this, module, ...rest);
  const { openAudio } = module.exports;
  if (typeof openAudio !== 'function') return;
  module.exports.openAudio = async function (path, ...options) {
    const reader = await openAudio.call(this, path, ...options);
    if (!readFileSync(path).includes(${JSON.stringify(MARK)})) return reader;
    reader.nextWindow = () => process.kill(process.pid, 'SIGSEGV');
    return reader;
  };
};
`;

interface Clips {
  ms: number[];
  timeouts: number;
  /** Answers of /readyz other than 200, of all that were asked for. */
  unready: number;
  looks: number;
}

describe('Files that crash the engine, each different', function () {
  this.timeout(900_000);
  let directory: string;
  let server: VerbatimProcess;
  let sent: number;
  const clip = sample('en-wav16.wav').path;
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connections: null });

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-deadly-'));
    writeFileSync(join(directory, 'crash.cjs'), CRASHING_MODULE);
  });
  after(() => rmSync(directory, { recursive: true }));
  beforeEach(async () => {
    sent = 0;
    const crashing = `--require ${join(directory, 'crash.cjs')}`;
    const env = { VERBATIM_SLOTS: '2', VERBATIM_THREADS: '1', NODE_OPTIONS: crashing, VERBATIM_LOG_LEVEL: 'error' };
    server = await startVerbatim({ main: attackedMain, env, credits: Array<number>(1 + ATTACKERS).fill(1_000_000) });
  });
  afterEach(() => server.stop());

  const attackerKey = (n: number): string => server.keys[1 + (n % ATTACKERS)]!;

  /** A clip with more behind its samples, which no other file has. */
  function deadlyFile(): Blob {
    return new Blob([readFileSync(clip), `${MARK} ${(sent += 1)}`]);
  }

  async function post(path: string, key: string, audio: Blob, signal: AbortSignal): Promise<number> {
    const body = new FormData();
    body.append('audio', audio, 'clip.wav');
    const headers = { authorization: `Bearer ${key}` };
    const url = `${server.url}${path}`;
    const response = await request(url, { method: 'POST', headers, body, dispatcher, signal });
    await response.body.dump();
    return response.statusCode;
  }

  async function clipsFor(milliseconds: number): Promise<Clips> {
    const clips: Clips = { ms: [], timeouts: 0, unready: 0, looks: 0 };
    const audio = await openAsBlob(clip);
    const end = performance.now() + milliseconds;
    while (performance.now() < end) {
      const start = performance.now();
      const signal = AbortSignal.timeout(CLIP_TIMEOUT_MS);
      const status = await post('/api/v1/transcribe', server.keys[0]!, audio, signal).catch(() => 0);
      clips.ms.push(performance.now() - start);
      if (status !== 200) clips.timeouts += 1;
      const { statusCode, body } = await request(`${server.url}/readyz`, { dispatcher });
      await body.dump();
      clips.looks += 1;
      if (statusCode !== 200) clips.unready += 1;
      await sleep(10);
    }
    return clips;
  }

  function judge(name: string, alone: Clips, beside: Clips): void {
    process.stdout.write(`      clip alone ${describeMs(alone.ms)}; beside ${name} ${describeMs(beside.ms)}\n`);
    const { timeouts, unready, looks } = beside;
    process.stdout.write(`      ${timeouts} clips without an answer; not ready at ${unready} of ${looks} looks\n`);
    expect(timeouts, 'clips that were not answered').to.equal(0);
    expect(quantile(beside.ms, 0.95) / quantile(alone.ms, 0.95), 'p95').to.be.at.most(MOST_SLOWDOWN);
    expect(unready / looks, 'share of looks at which the server was not ready').to.be.below(0.05);
  }

  it(`${CONNECTIONS} connections of ${ATTACKERS} accounts slow another account's clip by ${MOST_SLOWDOWN} at most`, async () => {
    await clipsFor(5000);
    const alone = await clipsFor(10_000);
    const over = new AbortController();
    setMaxListeners(0, over.signal);
    const attack = Array.from({ length: CONNECTIONS }, async (_, n) => {
      while (!over.signal.aborted) {
        const status = await post('/api/v1/transcribe', attackerKey(n), deadlyFile(), over.signal).catch(() => 0);
        // The attack is the crashes, not a flood of refused requests.
        await sleep(status === 429 || status === 503 ? 1000 : 50);
      }
    });
    const beside = await clipsFor(ATTACK_MS);
    over.abort();
    await Promise.all(attack);
    judge(`${CONNECTIONS} connections`, alone, beside);
  });

  it(`${JOBS} queued jobs whose senders are gone slow it by ${MOST_SLOWDOWN} at most`, async () => {
    await clipsFor(5000);
    const alone = await clipsFor(10_000);
    for (let n = 0; n < JOBS; n++)
      expect(await post('/api/v1/jobs', attackerKey(n), deadlyFile(), AbortSignal.timeout(60_000))).to.equal(202);
    judge(`${JOBS} jobs`, alone, await clipsFor(ATTACK_MS));
  });
});

function describeMs(values: readonly number[]): string {
  const [middle, high, worst] = [0.5, 0.95, 1].map((share) => quantile(values, share).toFixed(0));
  return `${middle} ms (median of ${values.length}), ${high} (p95), ${worst} (worst)`;
}
