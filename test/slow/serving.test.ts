/**
 * What the service promises under load, measured on `verbatim serve` as its own process (so `npm run build` first),
 * through HTTP: bounded memory, short clips beside long files, a responsive event loop, slots freed by a hang-up.
 */
import { mkdtempSync, openAsBlob, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { Agent, FormData, request } from 'undici';
import { peakMemoryBytes, residentBytes } from '../../bench/processes/process-usage.js';
import { startVerbatim, type VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import { pause, pcmOfSample, sample, writeRepeatedMp3, writeRepeatedWav } from '../support/speech.js';
import { median } from '../../bench/reports/statistics.js';
import { quantile } from './quantile.js';
import { builtMain } from './built-main.js';
import { loopLateMs, readMetric } from './metric.js';

const SLOTS = 2;
/** Pairs of medians, of clips on an idle server and beside a long file. */
const CLIP_ROUNDS = 7;
const CLIPS_A_ROUND = 12;
/** V8 compiles what turns out to be used. */
const WARM_UP_CLIPS = 300;
/** README.md. */
const MOST_BESIDE = 1.8;
const MEBIBYTE = 1024 * 1024;

/** An answer may take as long as the audio does. */
const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** Milliseconds of the clip: alone, and with its speakers. */
type Times = [alone: number[], spoken: number[]];

interface Answer {
  duration_sec: number;
  text: string;
}

describe('Serving under load', function () {
  this.timeout(3 * 3600_000);
  let server: VerbatimProcess;
  let directory: string;
  let longFile: string;
  let threeHours: string;
  const clip = sample('en-wav16.wav').path;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-serving-'));
    // As long as an upload may be: a fast machine is done with 20 minutes in 2 s.
    longFile = join(directory, 'fifty-minutes.wav');
    // No pause is long enough to cut at, so that windows are as long as they get.
    const parts = [pcmOfSample(), pause(0.1)];
    expect(writeRepeatedWav(longFile, parts, 1180)).to.be.within(2980, 3000);
    threeHours = join(directory, 'three-hours.mp3');
    writeRepeatedMp3(threeHours, 3 * 3600);
  });

  after(() => rmSync(directory, { recursive: true }));

  beforeEach(async () => {
    server = await startVerbatim({
      main: builtMain,
      env: { VERBATIM_SLOTS: String(SLOTS), VERBATIM_THREADS: '1' },
    });
  });

  afterEach(() => server.stop());

  async function transcribe(
    path: string,
    signal?: AbortSignal,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    body.append('audio', await openAsBlob(path), basename(path));
    const response = await request(`${server.url}/api/v1/transcribe`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.keys[0]}` },
      body,
      dispatcher: patient,
      ...(signal === undefined ? {} : { signal }),
    });
    const answer = (await response.body.json()) as Answer;
    expect(response.statusCode, JSON.stringify(answer).slice(0, 300)).to.equal(200);
    return answer;
  }

  async function millisecondsFor(path: string, fields: Readonly<Record<string, string>> = {}): Promise<number> {
    const start = performance.now();
    await transcribe(path, undefined, fields);
    return performance.now() - start;
  }

  const metric = (name: string): Promise<number> => readMetric(server.url, name);

  async function untilBusySlots(count: number): Promise<void> {
    while ((await metric('verbatim_slots_busy')) !== count) await sleep(5);
  }

  async function untilDiarized(count: number): Promise<void> {
    while ((await metric('verbatim_diarizations_running')) !== count) await sleep(20);
  }

  /** Transcribes the long file while `work` runs, then hangs up. */
  async function besideLongFile(
    work: () => Promise<void>,
    path = longFile,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const hangUp = new AbortController();
    const long = transcribe(path, hangUp.signal, fields).catch((error: unknown) => error);
    await untilBusySlots(SLOTS);
    await work();
    expect(await metric('verbatim_slots_busy'), 'still at work on the long file').to.be.above(0);
    hangUp.abort();
    expect(await long).to.have.property('name', 'AbortError');
  }

  it('transcribes a 3-hour file in less than 300 MB above the idle server', async () => {
    const path = join(directory, 'three-hours.mp3');
    const seconds = writeRepeatedMp3(path, 3 * 3600);
    const idleBytes = residentBytes(server.pid);
    const start = performance.now();
    const answer = await transcribe(path);
    const aboveIdle = (peakMemoryBytes(server.pid) - idleBytes) / MEBIBYTE;
    const tookSeconds = (performance.now() - start) / 1000;
    report(`3 hours: idle ${mib(idleBytes)} MiB, peak ${aboveIdle.toFixed(0)} MiB more`);
    report(`3 hours: ${tookSeconds.toFixed(0)} s, real-time factor ${(tookSeconds / seconds).toFixed(3)}`);
    expect(answer.duration_sec).to.be.closeTo(seconds, seconds / 100);
    expect(answer.text.split(' ').length).to.be.above(seconds);
    expect(aboveIdle).to.be.below(300);
  });

  it(`answers a 3-second clip beside a 50-minute file within ${MOST_BESIDE} times its time on an idle server`, async () => {
    for (let n = 0; n < WARM_UP_CLIPS; n++) await millisecondsFor(clip);
    const ratios: number[] = [];
    const late: number[] = [];
    const all: Times = [[], []];
    // Idle and beside in turns: a machine that is slower for a while is so for both.
    for (let round = 0; round < CLIP_ROUNDS; round++) {
      const [idle, beside]: Times = [[], []];
      for (let n = 0; n < CLIPS_A_ROUND; n++) idle.push(await millisecondsFor(clip));
      await besideLongFile(async () => {
        for (let n = 0; n < CLIPS_A_ROUND; n++) {
          await sleep(37 * ((CLIPS_A_ROUND * round + n) % 11)); // at every phase of the windows that run
          beside.push(await millisecondsFor(clip));
        }
      });
      all[0].push(...idle);
      all[1].push(...beside);
      ratios.push(median(beside) / median(idle));
      late.push(...beside.map((ms) => ms / median(idle)));
    }
    report(
      `clip beside a long file: ${median(ratios).toFixed(2)}x its time on an idle server (median of ${CLIP_ROUNDS} pairs, ` +
        `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}), ${quantile(late, 0.9).toFixed(2)}x (p90); ` +
        `${median(all[0]).toFixed(1)} and ${median(all[1]).toFixed(1)} ms`,
    );
    expect(median(ratios)).to.be.at.most(MOST_BESIDE);
    expect(quantile(late, 0.9)).to.be.below(3);
  });

  it('answers a 3-second clip beside a 3-hour file whose speakers are identified in at most twice the time beside one whose are not', async () => {
    const [plain, spoken] = [{}, { diarize: 'true' }];
    await transcribe(clip, undefined, spoken); // the speaker models are loaded
    const times = { plain: [[], []] as Times, diarized: [[], []] as Times };
    for (let round = 0; round < 6; round++) {
      const order = round % 2 === 0 ? (['plain', 'diarized'] as const) : (['diarized', 'plain'] as const);
      for (const kind of order) {
        const fields = kind === 'diarized' ? { ...spoken, language: 'en' } : plain;
        await besideLongFile(
          async () => {
            await untilDiarized(kind === 'diarized' ? 1 : 0);
            for (let n = 0; n < 6; n++) {
              await sleep(37 * ((6 * round + n) % 11));
              times[kind][0].push(await millisecondsFor(clip, plain));
              times[kind][1].push(await millisecondsFor(clip, spoken));
            }
            const recognised = await metric('verbatim_diarizations_running');
            expect(recognised, 'files that are still listened to').to.equal(kind === 'diarized' ? 1 : 0);
          },
          threeHours,
          fields,
        );
        await untilDiarized(0);
      }
    }
    const ratios = ([0, 1] as const).map((which) => {
      const [before, beside] = [median(times.plain[which]), median(times.diarized[which])];
      const what = which === 0 ? 'clip' : 'clip with its speakers';
      const late = quantile(times.diarized[which], 0.9) / quantile(times.plain[which], 0.9);
      report(
        `${what}: ${before.toFixed(0)} ms beside a long file, ${(beside / before).toFixed(2)}x beside one that is diarized (${late.toFixed(2)}x at p90)`,
      );
      return beside / before;
    });
    // A thread more than cores takes a share of both slots; with speakers, their models are shared with the long file
    // too.
    expect(ratios[0]).to.be.below(2);
    expect(ratios[1]).to.be.below(3);
  });

  it('keeps the event loop free while all slots are busy', async () => {
    await besideLongFile(async () => {
      await loopLateMs(server.url); // resets the histogram
      for (let second = 0; second < 8; second++) await Promise.all([transcribe(clip), sleep(1000)]);
      const p99 = await loopLateMs(server.url);
      report(`event loop: p99 delay ${p99.toFixed(1)} ms`);
      expect(p99).to.be.below(20);
    }, threeHours);
  });

  it('frees the slots within 500 ms of a hang-up', async () => {
    const times: number[] = [];
    for (let n = 0; n < 10; n++) {
      let hungUpAt = 0;
      await besideLongFile(async () => {
        await sleep(100 * n);
        hungUpAt = performance.now();
      });
      await untilBusySlots(0);
      times.push(performance.now() - hungUpAt);
    }
    report(
      `hang-up: slots free after ${median(times).toFixed(0)} ms (median), ${Math.max(...times).toFixed(0)} ms (worst)`,
    );
    expect(Math.max(...times)).to.be.below(500);
  });
});

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function mib(bytes: number): string {
  return (bytes / MEBIBYTE).toFixed(0);
}

/** Measurements go to the terminal beside the test's name. */
function report(line: string): void {
  process.stdout.write(`      ${line}\n`);
}
