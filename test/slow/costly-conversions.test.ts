/**
 * Files that take ffmpeg minutes and have no audio, of accounts of one credit, beside a client with clips: `verbatim
 * serve` as its own process (so `npm run build` first; ATTACKED_MAIN names the main.js of another build).
 */
import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Pool } from 'undici';
import { startVerbatim, type VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import { percentile } from '../../bench/reports/statistics.js';
import { amrWithoutData, matroskaOfTags } from '../support/costly-media.js';
import { recordingOf } from '../support/recordings.js';
import { sample } from '../support/speech.js';
import { postClip } from './posting.js';
import { attackedMain } from './built-main.js';

const ACCOUNTS = 4;
const CONNECTIONS = 64;
/** Until uploads are there and conversions run. */
const SETTLE_MS = 15_000;
/** What is measured is the work of ffmpeg, not that of receiving 17 MB. */
const BETWEEN_MS = 10_000;
const CLIPS = 40;
const THROUGHPUT_MS = 10_000;
const SENDERS = 4;
const MOST_TIMES_IDLE = 2;
const LEAST_THROUGHPUT = 0.8;

const ATTACKS = {
  'Matroska of 300,000 tags': () => matroskaOfTags(300_000),
  'AMR without data': () => amrWithoutData(17_000_000),
} as const;

interface Figures {
  clipMs: number;
  webmMs: number;
  clipsPerSecond: number;
}

describe('Files that only cost', function () {
  this.timeout(1800_000);
  let server: VerbatimProcess;
  let directory: string;
  let webm: string;
  const clip = sample('en-wav16.wav').path;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-costly-'));
    webm = recordingOf(clip, join(directory, 'clip.webm'), ['-c:a', 'libopus']);
  });
  after(() => rmSync(directory, { recursive: true }));

  beforeEach(async () => {
    const env = { VERBATIM_SLOTS: '2', VERBATIM_THREADS: '1' };
    const poor = Array.from({ length: ACCOUNTS }, () => 1);
    server = await startVerbatim({ main: attackedMain, env, credits: [1_000_000, ...poor] });
  });
  afterEach(() => server.stop());

  async function figures(): Promise<Figures> {
    const pool = new Pool(server.url, { connections: SENDERS, headersTimeout: 0 });
    const key = server.keys[0]!;
    const timesOf = async (path: string): Promise<number[]> => {
      const times: number[] = [];
      for (let n = 0; n < CLIPS; n++) {
        const { status, ms } = await postClip(pool, key, path);
        expect(status).to.equal(200);
        times.push(ms);
      }
      return times;
    };
    const clipMs = percentile(await timesOf(clip), 0.5);
    const webmMs = percentile(await timesOf(webm), 0.5);
    let done = 0;
    const until = performance.now() + THROUGHPUT_MS;
    const sender = async (): Promise<void> => {
      for (; performance.now() < until; done++) expect((await postClip(pool, key, clip)).status).to.equal(200);
    };
    await Promise.all(Array.from({ length: SENDERS }, sender));
    await pool.close();
    return { clipMs, webmMs, clipsPerSecond: (1000 * done) / THROUGHPUT_MS };
  }

  /** Sends the file over and over; returns what ends it. */
  function attack(path: string): () => Promise<void> {
    const pool = new Pool(server.url, { connections: CONNECTIONS, headersTimeout: 0, bodyTimeout: 0 });
    const over = new AbortController();
    setMaxListeners(0, over.signal);
    const connection = async (n: number): Promise<void> => {
      while (!over.signal.aborted) {
        await postClip(pool, server.keys[1 + (n % ACCOUNTS)]!, path).catch(() => undefined);
        await pause(BETWEEN_MS, null, { signal: over.signal }).catch(() => undefined);
      }
    };
    const all = Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => connection(n)));
    return async () => {
      over.abort();
      await pool.destroy();
      await all;
    };
  }

  for (const [name, made] of Object.entries(ATTACKS)) {
    it(`${CONNECTIONS} connections with ${name} from ${ACCOUNTS} accounts leave another account its clips`, async () => {
      const path = join(directory, 'costly');
      writeFileSync(path, made());
      await figures();
      const idle = await figures();
      const end = attack(path);
      await pause(SETTLE_MS);
      const beside = await figures();
      await end();
      report(`idle: ${described(idle)}`);
      report(`beside: ${described(beside)}`);
      expect(beside.clipMs).to.be.at.most(MOST_TIMES_IDLE * idle.clipMs);
      expect(beside.webmMs).to.be.at.most(MOST_TIMES_IDLE * idle.webmMs);
      expect(beside.clipsPerSecond).to.be.at.least(LEAST_THROUGHPUT * idle.clipsPerSecond);
    });
  }
});

function described({ clipMs, webmMs, clipsPerSecond }: Figures): string {
  const [clip, webm] = [clipMs, webmMs].map((ms) => ms.toFixed(0));
  return `clip ${clip} ms, WebM ${webm} ms (medians of ${CLIPS}), ${clipsPerSecond.toFixed(1)} clips/s`;
}

/** Measurements go to the terminal beside the test's name. */
function report(line: string): void {
  process.stdout.write(`      ${line}\n`);
}
