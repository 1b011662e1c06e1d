import { availableParallelism, cpus } from 'node:os';
import type { Command } from 'commander';
import type { LineChart } from '../reports/charts.js';
import { deviceText } from '../engine/engine-cells.js';
import { identifyModel } from '../reports/environment.js';
import { rounded, withSpread, type Report, type Table } from '../reports/report.js';
import { median, summarize } from '../reports/statistics.js';
import {
  choose,
  compareInPairs,
  LEAST_GAIN,
  rates,
  sameSettings,
  successiveHalving,
  sweepAll,
  tuneCandidates,
  type Comparison,
  type Measure,
  type Settings,
  type Trial,
} from '../engine/tune-search.js';
import { readConfig, type Config } from '../../src/service/config.js';
import { DEFAULT_BATCH } from '../../src/service/speech-decoder.js';
import type { SpeechDecoder } from '../../src/engine/speech/speech-models.js';
import { slotsOn } from '../../src/service/slots.js';
import { loadBinding } from '../../src/engine/binding.js';
import { resolveDevices } from '../../src/engine/devices.js';
import { tunedPath, writeTuned } from '../../src/service/tuned.js';
import { packageRoot } from '../../src/package-root.js';
import { integerFrom } from '../../src/cli/options.js';
import { cellMeasurer } from './measure-cell.js';
import type { BenchParts } from './parts.js';
import { type BenchModel, decoderOf, modelNamed } from './bench-models.js';
import {
  addClipOptions,
  addOutputOptions,
  benchContext,
  modelOption,
  progress,
  publish,
  type WorkOptions,
} from './setup.js';

interface Options extends WorkOptions {
  pairs: number;
  sweep: number;
  file: string;
}

export function addBenchTune(bench: Command, parts: BenchParts): void {
  const command = bench
    .command('tune')
    .description('find the best slots, threads and batch for this machine and model; `serve` reads what it writes')
    .addOption(modelOption())
    .option('--pairs <n>', 'measurements of the winner and the defaults in turns', integerFrom(1), 5)
    .option(
      '--sweep <n>',
      'then measure every candidate so often, and the best of them beside the choice; 0: do not',
      integerFrom(0),
      0,
    )
    .option('--file <path>', 'where the settings are written', tunedPath());
  addOutputOptions(addClipOptions(command)).action((options: Options) => benchTune(options, parts));
}

async function benchTune(options: Options, parts: BenchParts): Promise<void> {
  const context = benchContext();
  const model = await modelNamed(context, options.model);
  const devices = resolveDevices(context.config.deviceSetting, loadBinding());
  const defaults = readConfig({}, packageRoot);
  const decoder = decoderOf(model, context.config, devices);
  const baseline = {
    slots: slotsOn(devices, defaults),
    threads: defaults.threads,
    batch: decoder.kind === 'batched' ? DEFAULT_BATCH : null,
  };
  const candidates = candidatesWith(baseline, devices, decoder.kind);
  const { accelerator } = context.config;
  const measure = measurer(options, { ...model, devices, decoder, accelerator }, parts);
  const trials = await successiveHalving(candidates, measure);
  const best = trials[0]?.cell ?? baseline;
  const comparison = await compareInPairs(baseline, best, options.pairs, measure);
  const chosen = choose(baseline, best, comparison);
  const check = await checkBySweep(chosen, candidates, options, measure);
  const identity = await identifyModel(model.name, model.path);
  writeTuned(
    {
      version: 1,
      model: identity,
      devices,
      accelerator,
      decoder: decoder.kind,
      compute: decoder.compute ?? 'auto',
      cpu: cpus()[0]?.model.trim() ?? 'unknown',
      cores: availableParallelism(),
      slots: chosen.slots,
      threads: chosen.threads,
      batch: chosen.batch,
      rtfx: rounded(chosen.rtfx),
      defaultRtfx: rounded(chosen.defaultRtfx),
      gain: rounded(chosen.gain),
      tunedAt: new Date().toISOString(),
    },
    options.file,
  );
  progress(`wrote ${options.file}`);
  const { clients, repeat, language } = options;
  publish(
    {
      ...tuneReport(trials, { baseline, best, chosen }, comparison, check),
      environment: context.environment,
      models: [identity],
      settings: {
        device: deviceText(devices),
        decoder: decoder.kind,
        accelerator,
        clients,
        repeat,
        language,
      },
    },
    options,
  );
}

function candidatesWith(baseline: Settings, devices: readonly string[], decoder: SpeechDecoder['kind']): Settings[] {
  const candidates = tuneCandidates(devices, availableParallelism(), decoder);
  return candidates.some((settings) => sameSettings(settings, baseline)) ? candidates : [baseline, ...candidates];
}

interface SweepCheck {
  trials: Trial[];
  /** The best cell of the sweep (baseline) and the choice (tuned), in turns; null where they are the same. */
  comparison: Comparison | null;
}

async function checkBySweep(
  chosen: Settings,
  candidates: readonly Settings[],
  { sweep, pairs }: Options,
  measure: Measure,
): Promise<SweepCheck | null> {
  if (sweep === 0) return null;
  const trials = await sweepAll(candidates, sweep, measure);
  const best = trials[0]?.cell ?? chosen;
  const comparison = sameSettings(best, chosen) ? null : await compareInPairs(best, chosen, pairs, measure);
  return { trials, comparison };
}

interface Subject extends BenchModel {
  devices: readonly string[];
  decoder: SpeechDecoder;
  accelerator: Config['accelerator'];
}

function measurer(options: Options, model: Subject, parts: BenchParts): Measure {
  const { path: modelPath, devices, decoder } = model;
  const measure = cellMeasurer([model], model, options, parts);
  return async (settings) => {
    const { slots, threads, batch } = settings;
    const sized = decoder.kind === 'batched' && batch !== null ? { ...decoder, windowsInFlight: batch } : decoder;
    const pass = await measure({ modelPath, devices, slots, threads, beam: 1, decoder: sized });
    progress(`${show(settings)}: RTFx ${rounded(pass.rtfx)}`);
    return pass;
  };
}

function tuneReport(
  trials: readonly Trial[],
  { baseline, best, chosen }: Record<'baseline' | 'best' | 'chosen', Settings>,
  comparison: Comparison,
  check: SweepCheck | null,
): Omit<Report, 'environment' | 'models' | 'settings'> {
  const pairs = {
    defaults: show(baseline),
    'RTFx of the defaults': withSpread(summarize(comparison.baseline)),
    'best found': show(best),
    'RTFx of the best': withSpread(summarize(comparison.tuned)),
    'ratio by pair': withSpread(summarize(comparison.ratios)),
    chosen: show(chosen),
  };
  return {
    name: 'tune',
    title: 'Tuning: slots, threads, windows in flight',
    warmUp: 'all clips once, in each process',
    runs: comparison.ratios.length,
    tables: [
      { title: 'Gain over the defaults, measured in turns', rows: [pairs] },
      { title: 'Search, best first', rows: trialRows(trials) },
      ...(check === null ? [] : checkTables(check, chosen)),
    ],
    charts: [searchChart(trials)],
    notes: [
      'Slots x threads, and windows in flight of the batched decoder. The best is chosen when it gains at least ' +
        `${Math.round(100 * (LEAST_GAIN - 1))} % over the defaults by pair.`,
    ],
    measurements: { trials, comparison, check },
  };
}

function show({ slots, threads, batch }: Settings): string {
  return batch === null ? `${slots} x ${threads}` : `${slots} x ${threads}, ${batch} in flight`;
}

function trialRows(trials: readonly Trial[]): Table['rows'] {
  return trials.map(({ cell, passes }) => ({
    ...cell,
    rounds: passes.length,
    RTFx: withSpread(summarize(rates(passes))),
  }));
}

function checkTables({ trials, comparison }: SweepCheck, chosen: Settings): Table[] {
  const row = {
    'best of the sweep': show(trials[0]?.cell ?? chosen),
    chosen: show(chosen),
    'chosen to best, by pair': comparison === null ? 'the same' : withSpread(summarize(comparison.ratios)),
  };
  return [
    { title: 'The choice beside the best cell of a whole sweep', rows: [row] },
    { title: 'Sweep, best first', rows: trialRows(trials) },
  ];
}

function searchChart(trials: readonly Trial[]): LineChart {
  const lines = [...new Set(trials.map(({ cell }) => lineOf(cell)))].sort();
  return {
    ...{ kind: 'lines', name: 'search', title: 'Throughput of what was tried' },
    ...{ x: 'slots', y: 'seconds of audio a second' },
    series: lines.map((name) => ({
      name,
      points: trials
        .filter(({ cell }) => lineOf(cell) === name)
        .map(({ cell, passes }) => [cell.slots, median(rates(passes))]),
    })),
  };
}

function lineOf({ threads, batch }: Settings): string {
  return batch === null ? `threads ${threads}` : `threads ${threads}, ${batch} in flight`;
}
