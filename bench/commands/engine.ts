import type { Command } from 'commander';
import type { EngineCell } from '../engine/bench-engine.js';
import { measureInProcess } from '../engine/engine-process.js';
import { identifyModel } from '../reports/environment.js';
import type { Report } from '../reports/report.js';
import { sweep, sweepCells } from '../engine/sweep.js';
import { loadBinding } from '../../src/engine/binding.js';
import { resolveDevices } from '../../src/engine/devices.js';
import { integerList } from '../../src/cli/options.js';
import { engineCharts, engineTable } from '../reports/engine-report.js';
import {
  addClipOptions,
  addOutputOptions,
  benchContext,
  clipsOf,
  modelsOf,
  progress,
  publish,
  roundsOption,
  type BenchModel,
  type WorkOptions,
} from './setup.js';

interface Options extends WorkOptions {
  device?: string;
  slots: number[];
  threads: number[];
  beam: number[];
  rounds: number;
}

export function addBenchEngine(bench: Command): void {
  const command = bench
    .command('engine')
    .description('throughput and latency of the engine by slots, threads, beam, model and device')
    .option('--model <names>', 'names of models or paths of model files, by comma; weight types are models')
    .option('--device <ids>', 'cpu, cuda, ... by comma (default: as serve would choose)')
    .option('--slots <list>', 'windows in flight', integerList, [1, 2])
    .option('--threads <list>', 'CPU threads a slot', integerList, [1, 2])
    .option('--beam <list>', 'beam sizes; 1 is greedy', integerList, [1]);
  addOutputOptions(addClipOptions(command).addOption(roundsOption(3))).action(benchEngine);
}

async function benchEngine(options: Options): Promise<void> {
  const context = benchContext();
  const binding = loadBinding();
  const models = modelsOf(context, options.model);
  const devices = (options.device ?? context.config.device)
    .split(',')
    .flatMap((id) => resolveDevices(id, binding));
  const clips = clipsOf(options.clips);
  const cells = sweepCells({
    modelPaths: models.map(({ path }) => path),
    devices: [...new Set(devices)],
    slots: options.slots,
    threads: options.threads,
    beams: options.beam,
  });
  const { clients, repeat, language, rounds } = options;
  const { acceleration } = context.config;
  const measured = await sweep(cells, {
    rounds,
    measure: (cell) =>
      measureInProcess({ cell, ...jobModel(models, cell), acceleration, clips, clients, repeat, language }),
    onStep: (done, total, cell) =>
      progress(`${done + 1}/${total}: ${cell.slots} slots x ${cell.threads} threads`),
  });
  const nameOf = (path: string): string => models.find((model) => model.path === path)?.name ?? path;
  const report: Report = {
    name: 'engine',
    title: 'Engine: throughput and latency',
    environment: context.environment,
    models: await Promise.all(models.map(({ name, path }) => identifyModel(name, path))),
    settings: { clips: clips.length, clients, repeat, language, acceleration },
    warmUp: 'all clips once, in each process',
    runs: rounds,
    tables: [engineTable(measured, nameOf)],
    charts: engineCharts(measured, nameOf),
    notes: [
      'RTFx is seconds of audio per second. Latency is from the opening of a file to its text, with all clients at work.',
      'Mel, encoder and decoder are shares of the time spent in them, summed over windows.',
    ],
    measurements: measured,
  };
  publish(report, options);
}

function jobModel(models: readonly BenchModel[], cell: EngineCell): Pick<BenchModel, 'policy' | 'languages'> {
  const model = models.find(({ path }) => path === cell.modelPath);
  if (model === undefined) throw new Error(`${cell.modelPath} is none of the models.`);
  return { policy: model.policy, languages: model.languages };
}
