import { InvalidArgumentError, type Command } from 'commander';
import { identifyModel } from '../reports/environment.js';
import { repeatedWav } from '../load/fairness.js';
import type { Upload } from '../load/http-target.js';
import type { ServerMemory } from '../load/memory.js';
import { seededRandom } from '../load/random.js';
import { rounded } from '../reports/report.js';
import type { SoakResult } from '../load/soak.js';
import { loadBinding } from '../../src/engine/binding.js';
import { resolveDevices } from '../../src/engine/devices.js';
import { slotsOn } from '../../src/service/slots.js';
import { integerFrom, positiveNumber } from '../../src/cli/options.js';
import { PLAIN_WAV } from '../reports/fairness-report.js';
import { memoryCharts, memoryNotes, memoryTables, mib } from '../reports/memory-report.js';
import type { BenchParts } from './parts.js';
import { type BenchModel, modelNamed, serving } from './bench-models.js';
import {
  addOutputOptions,
  benchContext,
  clipsOf,
  clipsOption,
  modelOption,
  progress,
  publish,
  slotOrThreadCounts,
  uploadsOf,
  type OutputOptions,
} from './setup.js';

interface Options extends OutputOptions {
  model?: string;
  clips: string;
  slots: number[];
  repeat: number;
  minutes: number;
  warmUpMinutes: number;
  rate: number;
  sampleSeconds: number;
  seed: number;
}

/** Of the load's long files. */
const LONG_SECONDS = 120;
/** The fewest samples that give a slope and its margin. */
const LEAST_SAMPLES = 4;

export function addBenchMemory(bench: Command, parts: BenchParts): void {
  const command = bench
    .command('memory')
    .description('memory of the server: idle, a slot, a window in flight; and whether hours of mixed load let it grow')
    .addOption(modelOption())
    .addOption(clipsOption())
    .option(
      '--slots <list>',
      'servers to start, one for each number of slots; two at least',
      differentSlotCounts,
      [1, 2, 4],
    )
    .option('--repeat <n>', 'times each number of windows in flight', integerFrom(1), 3)
    .option('--minutes <n>', 'of mixed load; 0: none', integerFrom(0), 120)
    .option('--warm-up-minutes <n>', 'of that load, left out of the slope; a third at most', positiveNumber, 15)
    .option('--rate <n>', 'requests a second, on average', positiveNumber, 1)
    .option('--sample-seconds <n>', 'between two samples of the memory', positiveNumber, 5)
    .option('--seed <n>', 'of arrivals and mix', integerFrom(0), 1);
  addOutputOptions(command).action((options: Options) => benchMemory(options, parts));
}

/** What a slot adds is the slope of a line, for which one server does not do. */
function differentSlotCounts(list: string): number[] {
  const counts = slotOrThreadCounts(list);
  if (new Set(counts).size > 1) return counts;
  throw new InvalidArgumentError('allowed: two different numbers at least, to find what a slot adds.');
}

async function benchMemory(options: Options, parts: BenchParts): Promise<void> {
  const context = benchContext();
  const { threads, deviceSetting: device, accelerator } = context.config;
  const soakSlots = slotsOn(resolveDevices(device, loadBinding()), context.config);
  const model = await modelNamed(context, options.model);
  clipsOf(options.clips);
  checkSamples(options);
  const servers: ServerMemory[] = [];
  for (const slots of options.slots)
    servers.push(await measureServer(model, { slots, threads, deviceSetting: device }, options, parts));
  const { minutes, rate, seed } = options;
  const warmUpMinutes = warmUpOf(options);
  const load =
    minutes === 0 ? null : await mixedLoad(model, { slots: soakSlots, threads, deviceSetting: device }, options, parts);
  const found = { servers, load, warmUpMinutes };
  publish(
    {
      name: 'memory',
      title: 'Memory of the server',
      environment: context.environment,
      models: [await identifyModel(model.name, model.path)],
      settings: { device, accelerator, threads, 'slots under load': soakSlots, minutes, rate, seed },
      warmUp: `none before the idle figures; ${rounded(warmUpMinutes)} minutes of load before its slope`,
      runs: 1,
      tables: memoryTables(found),
      charts: memoryCharts(found),
      notes: memoryNotes(found),
      measurements: found,
    },
    options,
  );
}

function warmUpOf({ warmUpMinutes, minutes }: Options): number {
  return Math.min(warmUpMinutes, minutes / 3);
}

/** Throws an Error where too few samples are left after the warm-up to compute a slope. */
function checkSamples(options: Options): void {
  const { minutes, sampleSeconds } = options;
  const most = (60 * (minutes - warmUpOf(options))) / LEAST_SAMPLES;
  if (minutes === 0 || sampleSeconds <= most) return;
  throw new Error(
    `--sample-seconds is ${sampleSeconds}; allowed: at most ${most}, ${LEAST_SAMPLES} samples after the warm-up.`,
  );
}

type Settings = Parameters<typeof serving>[1] & { slots: number };

async function measureServer(
  model: BenchModel,
  settings: Settings,
  { repeat }: Options,
  { startVerbatim, measureMemory }: BenchParts,
): Promise<ServerMemory> {
  const { slots } = settings;
  progress(`${slots} slots`);
  const server = await startVerbatim(serving(model, settings));
  try {
    return await measureMemory({ ...server, slots, repeat, upload: fullWindow(model) });
  } finally {
    await server.stop();
  }
}

/** A sample repeated, as often as one window of the model holds. */
function fullWindow({ policy }: BenchModel): Upload {
  const { seconds } = repeatedWav(PLAIN_WAV, 0.1, 'en');
  return repeatedWav(PLAIN_WAV, policy.maxSeconds - seconds, 'en');
}

async function mixedLoad(
  model: BenchModel,
  settings: Settings,
  options: Options,
  { startVerbatim, soak }: BenchParts,
): Promise<SoakResult> {
  const { minutes, rate, sampleSeconds, seed } = options;
  const uploads = await uploadsOf(model, clipsOf(options.clips), 'auto');
  const server = await startVerbatim(serving(model, settings));
  try {
    return await soak({
      ...{ target: server.target, pid: server.pid, uploads, rate, sampleSeconds },
      long: repeatedWav(PLAIN_WAV, LONG_SECONDS, 'auto'),
      seconds: minutes * 60,
      random: seededRandom(seed),
      onSample: ({ seconds, residentBytes }) =>
        progress(`${(seconds / 60).toFixed(1)} of ${minutes} minutes: ${mib(residentBytes)} MiB`),
    });
  } finally {
    await server.stop();
  }
}
