import type { Command } from 'commander';
import type { Billing } from '../load/billing.js';
import type { BarChart } from '../reports/charts.js';
import { identifyModel } from '../reports/environment.js';
import { PHASES, summarizeOverhead, type Overhead, type OverheadPair } from '../load/overhead.js';
import { rounded, type Table } from '../reports/report.js';
import { percentiles } from '../reports/statistics.js';
import type { Config } from '../../src/service/config.js';
import { loadBinding } from '../../src/engine/binding.js';
import { resolveDevices } from '../../src/engine/devices.js';
import type { BenchParts } from './parts.js';
import { type BenchModel, decoderOf, modelNamed, serving } from './bench-models.js';
import {
  addOutputOptions,
  benchContext,
  clipsOf,
  clipsOption,
  coresAtMost,
  languageOption,
  modelOption,
  progress,
  publish,
  roundsOption,
  slotOrThreadCount,
  type OutputOptions,
} from './setup.js';

interface Options extends OutputOptions {
  model?: string;
  clips: string;
  language: string;
  rounds: number;
  slots: number;
  threads: number;
}

/** Milliseconds at the median. */
const GOAL = 8;
const BILLED_REQUESTS = 200;

export function addBenchOverhead(bench: Command, parts: BenchParts): void {
  const command = bench
    .command('overhead')
    .description("what HTTP, upload, queue and billing add to a clip's time in the engine, pair by pair")
    .addOption(modelOption())
    .addOption(clipsOption())
    .addOption(languageOption())
    .option('--slots <n>', 'windows in flight, in the engine and in the server', slotOrThreadCount, 1)
    .option('--threads <n>', 'CPU threads a slot', slotOrThreadCount, coresAtMost());
  addOutputOptions(command.addOption(roundsOption(10))).action((options: Options) => benchOverhead(options, parts));
}

async function benchOverhead(options: Options, parts: BenchParts): Promise<void> {
  const context = benchContext();
  const model = await modelNamed(context, options.model);
  const { deviceSetting: device, accelerator } = context.config;
  const pairs = await measure(model, context.config, options, parts);
  const billing = await parts.measureBilling(BILLED_REQUESTS);
  const overhead = summarizeOverhead(pairs);
  const { language, slots, threads, rounds } = options;
  const added = rounded(overhead.added.total);
  publish(
    {
      name: 'overhead',
      title: 'What the server adds to the engine',
      environment: context.environment,
      models: [await identifyModel(model.name, model.path)],
      settings: { device, accelerator, slots, threads, language, pairs: pairs.length },
      warmUp: 'all clips once, both ways',
      runs: rounds,
      tables: [phaseTable(overhead), billingTable(billing)],
      charts: [phaseChart(overhead)],
      notes: [
        `Added at p50: ${added} ms by the whole time of a clip, ${rounded(overhead.addedOutsideSpeech)} ms without ` +
          `the time in the model; goal: below ${GOAL} ms.`,
        'Upload, queue and speech as the server reports them (Server-Timing); the rest is opening the file and, with ' +
          'HTTP, billing, answer and transport.',
        'Differences are of the same clip, one right after the other, the server first in every other round; one ' +
          'request at a time.',
      ],
      measurements: { overhead, pairs, billing },
    },
    options,
  );
}

async function measure(
  model: BenchModel,
  config: Config,
  options: Options,
  { startVerbatim, createBenchEngine, measureOverhead }: BenchParts,
): Promise<OverheadPair[]> {
  const { slots, threads, language, rounds } = options;
  const clips = clipsOf(options.clips);
  const { deviceSetting: device, accelerator } = config;
  const devices = resolveDevices(device, loadBinding());
  const decoder = decoderOf(model, config, devices);
  const cell = { modelPath: model.path, devices, slots, threads, beam: 1, decoder };
  const server = await startVerbatim(serving(model, { slots, threads, deviceSetting: device }));
  try {
    const engine = await createBenchEngine(loadBinding(), { ...model, cell, accelerator });
    try {
      const onRound = (round: number): void => progress(`round ${round + 1} of ${rounds}`);
      return await measureOverhead({ engine, target: server.target, clips, language, rounds, onRound });
    } finally {
      await engine.close();
    }
  } finally {
    await server.stop();
  }
}

function phaseTable({ engine, server, added }: Overhead): Table {
  const rows = PHASES.map((phase) => ({
    phase,
    'engine p50 ms': rounded(engine[phase]),
    'server p50 ms': rounded(server[phase]),
    'added p50 ms': rounded(added[phase]),
  }));
  return { title: 'A clip, in the engine and through the server', rows };
}

function billingTable(billing: Billing): Table {
  const rows = Object.entries(billing).map(([step, times]) => {
    const { p50, p95, p99 } = percentiles(times as number[]);
    return { step, 'p50 ms': rounded(p50), 'p95 ms': rounded(p95), 'p99 ms': rounded(p99) };
  });
  return { title: 'Billing alone', rows };
}

function phaseChart({ added }: Overhead): BarChart {
  return {
    ...{ kind: 'bars', name: 'phases', title: 'What the server adds, by phase', x: '', y: 'ms, median' },
    categories: [...PHASES],
    series: [{ name: 'added', values: PHASES.map((phase) => rounded(added[phase])) }],
  };
}
