import { InvalidArgumentError, type Command } from 'commander';
import { verbatimTarget, type HttpTarget, type Upload } from '../load/http-target.js';
import type { LoadResult } from '../load/open-loop.js';
import { seededRandom } from '../load/random.js';
import { searchRate } from '../load/rate-search.js';
import { rounded, type Report } from '../reports/report.js';
import { integerFrom } from '../../src/cli/options.js';
import { fairnessChart, fairnessTable, fairnessUploads } from '../reports/fairness-report.js';
import { loadCharts, loadTable } from '../reports/load-report.js';
import type { BenchParts } from './parts.js';
import { modelNamed } from './bench-models.js';
import {
  addOutputOptions,
  benchContext,
  clipsOf,
  clipsOption,
  languageOption,
  progress,
  publish,
  uploadsOf,
  type OutputOptions,
} from './setup.js';

interface Options extends OutputOptions {
  url: string;
  key: string[];
  clips: string;
  language: string;
  seconds: number;
  p95: number;
  seed: number;
  long?: string;
  longSeconds: number;
  shortClips: number;
}

const WARM_UP = 4;
/** Requests a second, the first try. */
const START_RATE = 1;
/** Steps of the bisection. */
const REFINEMENTS = 3;
const FAIRNESS_LIMIT_SECONDS = 120;

export function addBenchHttp(bench: Command, parts: BenchParts): void {
  const command = bench
    .command('http')
    .description('the highest rate of requests a running server bears, and what short clips wait behind long files')
    .requiredOption('--url <url>', 'the server')
    .requiredOption('--key <keys>', 'API keys by comma, each of an account of its own; credits are used', list)
    .addOption(clipsOption())
    .addOption(languageOption())
    .option('--seconds <n>', 'length of a step', integerFrom(1), 30)
    .option('--p95 <ms>', 'the bound that 95 % of the answers must keep', integerFrom(1), 2000)
    .option('--seed <n>', 'of arrivals and mix', integerFrom(0), 1)
    .option('--long <file>', 'the long file (default: a sample repeated)')
    .option('--long-seconds <n>', 'length of the repeated sample', integerFrom(1), 1200)
    .option('--short-clips <n>', 'short clips sent one by one, idle and behind the long file', integerFrom(1), 20);
  addOutputOptions(command).action((options: Options) => benchHttp(options, parts));
}

function list(value: string): string[] {
  const keys = value.split(',').filter((key) => key !== '');
  if (keys.length === 0) throw new InvalidArgumentError('allowed: API keys by comma, one at least.');
  return keys;
}

async function benchHttp(options: Options, parts: BenchParts): Promise<void> {
  const context = benchContext();
  const target = verbatimTarget(options.url, options.key);
  const model = await modelNamed(context, undefined);
  const uploads = await uploadsOf(model, clipsOf(options.clips), options.language);
  const clips = await fairnessUploads(options, model, uploads);
  const fairness = await parts.measureFairness({
    ...{ target, ...clips },
    count: options.shortClips,
    limitSeconds: FAIRNESS_LIMIT_SECONDS,
  });
  const named = [{ name: target.name, fairness }];
  const { highestRate, steps } = await findRate(target, uploads, options, parts);
  const { seconds, p95, seed, language, key } = options;
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
      seconds,
      p95,
      seed,
    },
    warmUp: `${WARM_UP} requests`,
    runs: 1,
    tables: [loadTable(steps, p95), fairnessTable(named, clips.short.seconds, clips.long.seconds)],
    charts: [...loadCharts(steps), fairnessChart(named)],
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

async function findRate(
  target: HttpTarget,
  uploads: readonly Upload[],
  { seconds, p95, seed }: Options,
  { openLoop }: BenchParts,
): Promise<{ highestRate: number | null; steps: LoadResult[] }> {
  for (const upload of uploads.slice(0, WARM_UP)) await target.send(upload, 0);
  return searchRate({
    startRate: START_RATE,
    p95BoundMs: p95,
    refinements: REFINEMENTS,
    run: (rate) => {
      progress(`${rounded(rate)} requests a second`);
      return openLoop({ target, uploads, rate, seconds, random: seededRandom(seed) });
    },
  });
}
