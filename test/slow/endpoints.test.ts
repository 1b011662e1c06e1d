/**
 * What the endpoints of OpenAI's clients cost beside our own, and how soon a stream begins, on a server that is a
 * process of its own (so `npm run build` first, on an idle machine). Runs of the two ways alternate, and each pair
 * gives one ratio.
 */
import { openAsBlob, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FormData, Pool } from 'undici';
import { startVerbatim, type VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import { median } from '../../bench/reports/statistics.js';
import { sample } from '../support/speech.js';
import { builtMain } from './built-main.js';

const PAIRS = 15;
const REQUESTS_A_RUN = 60;
const LEAST_RATIO = 0.97;
const TEN_MINUTES_SECONDS = 600;

const WAYS = {
  '/api/v1/transcribe': { file: 'audio', fields: {} },
  '/v1/audio/transcriptions': { file: 'file', fields: { model: 'whisper-1' } },
} as const;
type Way = keyof typeof WAYS;

describe('/v1/audio/transcriptions', function () {
  this.timeout(1_800_000);
  const lanes = 2 * availableParallelism();
  let server: VerbatimProcess;
  let pool: Pool;

  before(async () => {
    server = await startVerbatim({
      main: builtMain,
      env: { VERBATIM_LOG_LEVEL: 'silent' },
    });
    pool = new Pool(server.url, { connections: lanes });
  });
  after(async () => {
    await pool.destroy();
    await server.stop();
  });

  async function post(way: Way, clip: Blob, more: Record<string, string> = {}) {
    const { file, fields } = WAYS[way];
    const body = new FormData();
    for (const [name, value] of Object.entries({ ...fields, ...more })) body.append(name, value);
    body.append(file, clip, 'clip.wav');
    const headers = { authorization: `Bearer ${server.keys[0]!}` };
    const response = await pool.request({ method: 'POST', path: way, headers, body });
    expect(response.statusCode).to.equal(200);
    return response.body;
  }

  /** Answers a second. */
  async function run(way: Way, clip: Blob): Promise<number> {
    let left = REQUESTS_A_RUN;
    const start = performance.now();
    const lane = async (): Promise<void> => {
      while (left-- > 0) await (await post(way, clip, { language: 'en' })).dump();
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    return REQUESTS_A_RUN / ((performance.now() - start) / 1000);
  }

  it(`serves at least ${LEAST_RATIO} of what /api/v1/transcribe does`, async () => {
    const clip = await openAsBlob(sample('en-wav16.wav').path);
    for (const way of Object.keys(WAYS) as Way[]) await run(way, clip);
    const ratios: number[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      const speeds: Partial<Record<Way, number>> = {};
      const ways = Object.keys(WAYS) as Way[];
      for (const way of pair % 2 === 0 ? ways : ways.toReversed()) speeds[way] = await run(way, clip);
      ratios.push(speeds['/v1/audio/transcriptions']! / speeds['/api/v1/transcribe']!);
    }
    const sorted = [...ratios].sort((one, other) => one - other);
    console.log(`ratio ${median(ratios).toFixed(3)} (${sorted[0]!.toFixed(3)}-${sorted.at(-1)!.toFixed(3)})`);
    expect(median(ratios)).to.be.at.least(LEAST_RATIO);
  });

  it('reports the first piece of ten minutes before a tenth of the work is done', async () => {
    const path = join(tmpdir(), `verbatim-ten-minutes-${process.pid}.wav`);
    writeFileSync(path, repeated(sample('en-wav16.wav').path, TEN_MINUTES_SECONDS));
    try {
      const clip = await openAsBlob(path);
      const start = performance.now();
      const times: number[] = [];
      let text = '';
      for await (const chunk of await post('/v1/audio/transcriptions', clip, {
        ...{ language: 'en', stream: 'true' },
      })) {
        times.push(performance.now() - start);
        text += (chunk as Buffer).toString();
      }
      const [first, whole] = [times[0]!, times.at(-1)!];
      console.log(`first piece after ${first.toFixed(0)} ms, all after ${whole.toFixed(0)} ms`);
      expect(text).to.contain('event: transcript.text.done');
      expect(first).to.be.below(whole / 10);
    } finally {
      rmSync(path, { force: true });
    }
  });
});

/** The samples of a file of 16-bit mono at 16 kHz, again and again, for so many seconds. */
function repeated(path: string, seconds: number): Buffer {
  const clip = readFileSync(path);
  const begin = clip.indexOf('data') + 8;
  const [head, samples] = [Buffer.from(clip.subarray(0, begin)), clip.subarray(begin)];
  const bytes = seconds * 32_000;
  const audio = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += samples.length) samples.copy(audio, at);
  head.writeUInt32LE(begin - 8 + bytes, 4);
  head.writeUInt32LE(bytes, begin - 4);
  return Buffer.concat([head, audio]);
}
