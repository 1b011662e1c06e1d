import type { Command } from 'commander';
import { identifyModel } from '../reports/environment.js';
import { repeatedWav } from '../load/fairness.js';
import type { Upload } from '../load/http-target.js';
import { measureMemory, type ServerMemory } from '../load/memory.js';
import { seededRandom } from '../load/random.js';
import { rounded } from '../reports/report.js';
import { soak, type SoakResult } from '../load/soak.js';
import { startVerbatim } from '../processes/verbatim-process.js';
import { loadBinding } from '../../src/engine/binding.js';
import { resolveDevices } from '../../src/engine/devices.js';
import { slotsOn } from '../../src/service/slots.js';
import { integerFrom, integerList, positiveNumber } from '../../src/cli/options.js';
import { PLAIN_WAV } from '../reports/fairness-report.js';
import { memoryCharts, memoryNotes, memoryTables, mib } from '../reports/memory-report.js';
import {
  addOutputOptions,
  benchContext,
  clipsOf,
  clipsOption,
  modelNamed,
  modelOption,
  progress,
  publish,
  serving,
  uploadsOf,
  type BenchModel,
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

export function addBenchMemory(bench: Command): void {
  const command = bench
    .command('memory')
    .description(
      'memory of the server: idle, a slot, a window in flight; and whether hours of mixed load let it grow',
    )
    .addOption(modelOption())
    .addOption(clipsOption())
    .option(
      '--slots <list>',
      'servers to start, one for each number of slots; two at least',
      integerList,
      [1, 2, 4],
    )
    .option('--repeat <n>', 'times each number of windows in flight', integerFrom(1), 3)
    .option('--minutes <n>', 'of mixed load; 0: none', integerFrom(0), 120)
    .option(
      '--warm-up-minutes <n>',
      'of that load, left out of the slope; a third at most',
      positiveNumber,
      15,
    )
    .option('--rate <n>', 'requests a second, on average', positiveNumber, 1)
    .option('--sample-seconds <n>', 'between two looks at the memory', positiveNumber, 5)
    .option('--seed <n>', 'of arrivals and mix', integerFrom(0), 1);
  addOutputOptions(command).action(benchMemory);
}

async function benchMemory(options: Options): Promise<void> {
  const context = benchContext();
  const { threads, deviceSetting: device, accelerator } = context.config;
  const soakSlots = slotsOn(resolveDevices(device, loadBinding()), context.config);
  const model = modelNamed(context, options.model);
  const servers: ServerMemory[] = [];
  for (const slots of options.slots)
    servers.push(await measureServer(model, { slots, threads, deviceSetting: device }, options));
  const { minutes, rate, seed } = options;
  const warmUpMinutes = Math.min(options.warmUpMinutes, minutes / 3);
  const load =
    minutes === 0
      ? null
      : await mixedLoad(model, { slots: soakSlots, threads, deviceSetting: device }, options);
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

type Settings = Parameters<typeof serving>[1] & { slots: number };

async function measureServer(
  model: BenchModel,
  settings: Settings,
  { repeat }: Options,
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

/** A sample said over and over, as often as one window of the model holds. */
function fullWindow({ policy }: BenchModel): Upload {
  const { seconds } = repeatedWav(PLAIN_WAV, 0.1, 'en');
  return repeatedWav(PLAIN_WAV, policy.maxSeconds - seconds, 'en');
}

async function mixedLoad(model: BenchModel, settings: Settings, options: Options): Promise<SoakResult> {
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
