import { join } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import { measureClips } from '../../bench/clips.js';
import { measureFairness, repeatedWav, type Fairness } from '../../bench/fairness.js';
import { readUpload, verbatimTarget, type HttpTarget, type Upload } from '../../bench/http-target.js';
import { openLoop, type LoadResult } from '../../bench/open-loop.js';
import { seededRandom } from '../../bench/random.js';
import { searchRate } from '../../bench/rate-search.js';
import { rounded, type Report, type Table } from '../../bench/report.js';
import { median } from '../../bench/statistics.js';
import { loadBinding } from '../../engine/binding.js';
import { packageRoot } from '../context.js';
import { finiteNumber, integerFrom } from '../options.js';
import {
  addOutputOptions,
  benchContext,
  clipsOf,
  DEFAULT_CLIPS,
  modelsOf,
  progress,
  publish,
  type OutputOptions,
} from './setup.js';

interface Options extends OutputOptions {
  url: string;
  key: string[];
  clips: string;
  language: string;
  startRate: number;
  seconds: number;
  p95: number;
  refinements: number;
  seed: number;
  long?: string;
  longSeconds: number;
  shortClips: number;
}

export const PLAIN_WAV = join(packageRoot, 'test', 'fixtures', 'audio', 'samples', 'en-wav16.wav');
const WARM_UP = 4;

export function addBenchHttp(bench: Command): void {
  const command = bench
    .command('http')
    .description(
      'the highest rate of requests a running server bears, and what short clips wait behind long files',
    )
    .requiredOption('--url <url>', 'the server')
    .requiredOption(
      '--key <keys>',
      'API keys by comma, each of an account of its own; credits are used',
      list,
    )
    .option('--clips <path>', 'a directory of audio files, or one file', DEFAULT_CLIPS)
    .option('--language <xx>', 'auto, given or a code', 'auto')
    .option('--start-rate <n>', 'requests a second, the first try', positive, 1)
    .option('--seconds <n>', 'length of a step', integerFrom(1), 30)
    .option('--p95 <ms>', 'the bound that 95 % of the answers must keep', integerFrom(1), 2000)
    .option('--refinements <n>', 'steps of the bisection', integerFrom(0), 3)
    .option('--seed <n>', 'of arrivals and mix', integerFrom(0), 1)
    .option('--long <file>', 'the long file (default: a sample repeated)')
    .option('--long-seconds <n>', 'length of the repeated sample', integerFrom(1), 1200)
    .option(
      '--short-clips <n>',
      'short clips sent one by one, idle and behind the long file',
      integerFrom(1),
      20,
    );
  addOutputOptions(command).action(benchHttp);
}

function list(value: string): string[] {
  return value.split(',').filter((key) => key !== '');
}

export function positive(value: string): number {
  const number = finiteNumber(value);
  if (number <= 0) throw new InvalidArgumentError('allowed: a number above 0.');
  return number;
}

async function benchHttp(options: Options): Promise<void> {
  const context = benchContext();
  const target = verbatimTarget(options.url, options.key);
  const uploads = await uploadsOf(options);
  const { short, long } = await fairnessUploads(options, uploads);
  const fairness = await measureFairness({
    target,
    short,
    long,
    count: options.shortClips,
    limitSeconds: 120,
  });
  const { highestRate, steps } = await findRate(target, uploads, options);
  const { startRate, seconds, p95, seed, language, key } = options;
  const report: Report = {
    name: 'http',
    title: 'Server: the load it bears, and fairness',
    environment: context.environment,
    models: [],
    settings: {
      url: options.url,
      accounts: key.length,
      clips: uploads.length,
      language,
      startRate,
      seconds,
      p95,
      seed,
    },
    warmUp: `${WARM_UP} requests`,
    runs: 1,
    tables: [
      { title: 'Load', rows: loadRows(steps, p95) },
      fairnessTable([{ name: target.name, fairness }], short, long),
    ],
    notes: [
      highestRate === null
        ? `Not even the lowest rate kept p95 under ${p95} ms.`
        : `Highest rate with p95 under ${p95} ms, nothing refused: ${rounded(highestRate)} requests a second.`,
      'Arrivals are a Poisson process, independent of the answers; latency counts from when a request was due.',
    ],
    measurements: { highestRate, steps, fairness },
  };
  publish(report, options);
}

async function uploadsOf({ clips, language }: Options): Promise<Upload[]> {
  const [model] = modelsOf(benchContext(), undefined);
  if (model === undefined) throw new Error('No model was named.');
  const measured = await measureClips(loadBinding(), model.policy, clipsOf(clips));
  return measured.map((clip) =>
    readUpload(clip.path, clip.seconds, language === 'given' ? (clip.language ?? 'auto') : language),
  );
}

/** The short clip is the one nearest to three seconds. */
export async function fairnessUploads(
  { long, longSeconds }: Pick<Options, 'long' | 'longSeconds'>,
  uploads: readonly Upload[],
): Promise<{ short: Upload; long: Upload }> {
  const [short] = [...uploads].sort((a, b) => Math.abs(a.seconds - 3) - Math.abs(b.seconds - 3));
  if (short === undefined) throw new Error('There are no clips.');
  if (long === undefined) return { short, long: repeatedWav(PLAIN_WAV, longSeconds, 'auto') };
  const [model] = modelsOf(benchContext(), undefined);
  const policy = model?.policy;
  if (policy === undefined) throw new Error('No model was named.');
  const [measured] = await measureClips(loadBinding(), policy, [{ path: long, language: null }]);
  return { short, long: readUpload(long, measured?.seconds ?? 0, 'auto') };
}

async function findRate(
  target: HttpTarget,
  uploads: readonly Upload[],
  { startRate, seconds, p95, refinements, seed }: Options,
): Promise<{ highestRate: number | null; steps: LoadResult[] }> {
  for (const upload of uploads.slice(0, WARM_UP)) await target.send(upload, 0);
  return searchRate({
    startRate,
    p95BoundMs: p95,
    refinements,
    run: (rate) => {
      progress(`${rounded(rate)} requests a second`);
      return openLoop({ target, uploads, rate, seconds, random: seededRandom(seed) });
    },
  });
}

function loadRows(steps: readonly LoadResult[], p95BoundMs: number): Table['rows'] {
  return [...steps]
    .sort((a, b) => a.rate - b.rate)
    .map(({ rate, sent, answered, refused, failed, latency, queue, rtfx }) => ({
      'requests/s': rounded(rate),
      sent,
      answered,
      refused,
      failed,
      'p50 ms': latency && Math.round(latency.p50),
      'p95 ms': latency && Math.round(latency.p95),
      'p99 ms': latency && Math.round(latency.p99),
      'queue p50/p95 ms': queue && `${Math.round(queue.p50)}/${Math.round(queue.p95)}`,
      RTFx: rounded(rtfx),
      [`p95 under ${p95BoundMs} ms`]: latency !== null && latency.p95 <= p95BoundMs ? 'yes' : 'no',
    }));
}

export function fairnessTable(
  measured: readonly { name: string; fairness: Fairness }[],
  short: Upload,
  long: Upload,
): Table {
  const rows = measured.map(({ name, fairness }) => ({
    server: name,
    'idle p50/p95 ms': `${Math.round(median(fairness.idleMs))}/${Math.round(fairness.idleP95)}`,
    'behind a long file p50/p95 ms': `${Math.round(median(fairness.busyMs))}/${Math.round(fairness.busyP95)}`,
    clips: fairness.busyMs.length,
    'ratio of p50': rounded(fairness.medianRatio),
    'ratio of p95': rounded(fairness.p95Ratio),
  }));
  return {
    title: `A clip of ${rounded(short.seconds)} s while a file of ${Math.round(long.seconds)} s runs`,
    rows,
  };
}
