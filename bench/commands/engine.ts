import { Option, type Command } from 'commander';
import { decodersOn, type DecoderOptions, type DecoderWith } from '../engine/decoders.js';
import { deviceSettings, engineCells } from '../engine/engine-cells.js';
import { identifyModel } from '../reports/environment.js';
import type { Report } from '../reports/report.js';
import { sweep } from '../engine/sweep.js';
import { loadBinding } from '../../src/engine/binding.js';
import { integerList, listOf } from './lists.js';
import { speechDecoder } from '../../src/service/speech-decoder.js';
import { COMPUTE_TYPES, MOST_BATCH, SPEECH_DECODERS } from '../../src/service/settings/device.js';
import { engineCharts, engineTable } from '../reports/engine-report.js';
import { cellMeasurer } from './measure-cell.js';
import type { BenchParts } from './parts.js';
import { decoderOf, modelsOf } from './bench-models.js';
import {
  addClipOptions,
  addOutputOptions,
  benchContext,
  clipsOf,
  progress,
  publish,
  roundsOption,
  slotOrThreadCounts,
  type WorkOptions,
} from './setup.js';

interface Options extends WorkOptions, DecoderOptions {
  device?: string;
  slots: number[];
  threads: number[];
  beam: number[];
  rounds: number;
}

export function addBenchEngine(bench: Command, parts: BenchParts): void {
  const command = bench
    .command('engine')
    .description('throughput and latency of the engine by slots, threads, beam, model and device')
    .option('--model <names>', 'names of models or paths of model files, by comma; weight types are models')
    .option(
      '--device <ids>',
      'settings by comma, each as VERBATIM_DEVICE takes it: cpu,cuda:0,1 is the CPU, then two GPUs at once ' +
        '(default: as serve would choose)',
    )
    .option('--slots <list>', 'windows in flight', slotOrThreadCounts, [1, 2])
    .option('--threads <list>', 'CPU threads a slot', slotOrThreadCounts, [1, 2])
    .option('--beam <list>', 'beam sizes; 1 is greedy', integerList(), [1])
    .option(
      '--decoder <list>',
      'speech decoders, each as VERBATIM_SPEECH_DECODER takes it (default: as it is set)',
      listOf(SPEECH_DECODERS),
    )
    .addOption(
      new Option(
        '--compute <type>',
        'type that the batched decoder computes in (default: as VERBATIM_COMPUTE is set)',
      ).choices([...COMPUTE_TYPES]),
    )
    .option(
      '--batch <list>',
      'windows in flight of the batched decoder (default: as VERBATIM_BATCH is set)',
      integerList(MOST_BATCH),
    );
  addOutputOptions(addClipOptions(command).addOption(roundsOption(3))).action((options: Options) =>
    benchEngine(options, parts),
  );
}

async function benchEngine(options: Options, parts: BenchParts): Promise<void> {
  const context = benchContext();
  const models = await modelsOf(context, options.model);
  const cells = engineCells({
    modelPaths: models.map(({ path }) => path),
    devices: deviceSettings(options.device ?? context.config.deviceSetting, loadBinding()),
    slots: options.slots,
    threads: options.threads,
    beams: options.beam,
    decodersOn: (devices, path) => {
      const model = models.find((one) => one.path === path);
      const decoderWith: DecoderWith = model === undefined ? speechDecoder : decoderOf.bind(null, model);
      return decodersOn(devices, options, context.config, decoderWith);
    },
  });
  const { clients, repeat, language, rounds } = options;
  const { accelerator } = context.config;
  const measured = await sweep(cells, {
    rounds,
    measure: cellMeasurer(models, context.config, options, parts),
    onStep: (done, total, cell) => progress(`${done + 1}/${total}: ${cell.slots} slots x ${cell.threads} threads`),
  });
  const nameOf = (path: string): string => models.find((model) => model.path === path)?.name ?? path;
  const report: Report = {
    name: 'engine',
    title: 'Engine: throughput and latency',
    environment: context.environment,
    models: await Promise.all(models.map(({ name, path }) => identifyModel(name, path))),
    settings: { clips: clipsOf(options.clips).length, clients, repeat, language, accelerator },
    warmUp: 'all clips once, in each process',
    runs: rounds,
    tables: [engineTable(measured, nameOf)],
    charts: engineCharts(measured, nameOf),
    notes: [
      'RTFx is seconds of audio per second. Latency is from the opening of a file to its text, with all clients at ' +
        'work.',
      'Mel, encoder and decoder are shares of the time spent in them, summed over windows.',
    ],
    measurements: measured,
  };
  publish(report, options);
}
