import { join } from 'node:path';
import type { Command } from 'commander';
import type { LineChart } from '../reports/charts.js';
import { identifyModel } from '../reports/environment.js';
import { rounded, withSpread, type Table } from '../reports/report.js';
import { sweep, type Measured } from '../engine/sweep.js';
import { median, summarize } from '../reports/statistics.js';
import {
  loadBinding,
  type TranslationModel,
  type TranslationModelOptions,
  type Translator,
} from '../../src/engine/binding.js';
import { resolveDevices } from '../../src/engine/devices.js';
import { findModel } from '../../src/models/manifest.js';
import { modelPath } from '../../src/models/store.js';
import { integerFrom } from '../../src/cli/options.js';
import { integerList } from './lists.js';
import { addOutputOptions, benchContext, progress, publish, roundsOption, type OutputOptions } from './setup.js';

interface Options extends OutputOptions {
  model: string;
  weights: string;
  batch: number[];
  beam: number[];
  threads: number;
  length: number;
  rounds: number;
}

/** One setting of the translator. */
interface TranslationCell {
  backend: string;
  weights: string;
  weightBytes: number;
  batch: number;
  beam: number;
}

/** With what it reached: tokens a second. */
type MeasuredCell = Measured<TranslationCell, number>;

type ComputeType = NonNullable<TranslationModelOptions['computeType']>;
const COMPUTE_TYPES: readonly ComputeType[] = ['auto', 'float32', 'float16', 'bfloat16', 'int8'];
const TEXT = 'The train to Paris leaves at nine from platform three, and I need two tickets for my family.';

export function addBenchTranslate(bench: Command): void {
  const command = bench
    .command('translate')
    .description('tokens per second of a translation model by batch, beam and weight type')
    .option('--model <name>', 'a translation model of the manifest', 'translate-verbatim-small')
    .option('--weights <types>', `by comma, of ${COMPUTE_TYPES.join(', ')}`, 'auto')
    .option('--batch <list>', 'sentences in a batch', integerList(1024), [1, 8, 32])
    .option('--beam <list>', 'beam sizes; 1 is greedy', integerList(), [1, 4])
    .option('--threads <n>', 'CPU threads', integerFrom(1, 256), 1)
    .option('--length <n>', 'tokens that every translation is forced to', integerFrom(1), 25);
  addOutputOptions(command.addOption(roundsOption(5))).action(benchTranslate);
}

async function benchTranslate(options: Options): Promise<void> {
  const { config, roots, manifest, environment } = benchContext();
  const entry = findModel(manifest, options.model);
  if (entry.kind !== 'translation')
    throw new Error(`"${entry.name}" is a speech model; a translation model is required.`);
  const path = modelPath(roots, entry);
  const binding = loadBinding();
  const [device = 'cpu'] = resolveDevices(config.deviceSetting, binding);
  const cells: MeasuredCell[] = [];
  for (const computeType of options.weights.split(',').map(computeTypeOf)) {
    const model = await binding.loadTranslationModel(path, {
      device,
      computeType,
      backend: config.translationBackend,
    });
    try {
      cells.push(...(await measureModel(model, options)));
    } finally {
      model.close();
    }
  }
  const { threads, length, rounds } = options;
  publish(
    {
      name: 'translate',
      title: 'Translation: tokens per second',
      environment,
      models: [await identifyModel(entry.name, join(path, 'model.bin'))],
      settings: { device, threads, length },
      warmUp: 'one batch of each cell',
      runs: rounds,
      tables: [{ title: 'Cells', rows: cells.map(row) }],
      charts: [chart(cells)],
      notes: [
        'Tokens written a second, every translation forced to the same length, so that the text does not change ' +
          'the work.',
      ],
      measurements: cells,
    },
    options,
  );
}

function computeTypeOf(name: string): ComputeType {
  const found = COMPUTE_TYPES.find((type) => type === name);
  if (found === undefined) throw new Error(`--weights names "${name}"; allowed: ${COMPUTE_TYPES.join(', ')}.`);
  return found;
}

async function measureModel(model: TranslationModel, options: Options): Promise<MeasuredCell[]> {
  const [source = []] = await model.tokenize([TEXT]);
  const { info } = model;
  const input = { source: [...source, ...(info.wantsSourceEos ? [info.eosToken] : [])] };
  const translator = await model.createTranslator({ threads: options.threads });
  const kind = { backend: info.backend, weights: info.computeType, weightBytes: info.memoryBytes };
  const cells = options.beam.flatMap((beam) => options.batch.map((batch) => ({ ...kind, batch, beam })));
  const measure = (cell: TranslationCell): Promise<number> =>
    tokensPerSecond(
      translator,
      Array.from({ length: cell.batch }, () => input),
      cell,
      options,
    );
  try {
    for (const cell of cells) await measure(cell); // warms up
    return await sweep(cells, {
      rounds: options.rounds,
      measure,
      onStep: (_, __, { weights, batch, beam }) => progress(`${weights}: batch ${batch}, beam ${beam}`),
    });
  } finally {
    translator.close();
  }
}

async function tokensPerSecond(
  translator: Translator,
  inputs: Parameters<Translator['translate']>[0],
  { beam: beamSize, batch: maxBatchSize }: TranslationCell,
  { length }: Options,
): Promise<number> {
  const lengths = { minDecodingLength: length, maxDecodingLength: length };
  const { timings } = await translator.translate(inputs, { beamSize, maxBatchSize, ...lengths });
  return timings.tokensOut / (timings.totalMs / 1000);
}

function row({ cell, passes }: MeasuredCell): Table['rows'][number] {
  const { backend, weights, weightBytes, batch, beam } = cell;
  const speed = { 'tokens/s': withSpread(summarize(passes)) };
  return { backend, weights, batch, beam, ...speed, 'MiB of weights': rounded(weightBytes / 2 ** 20) };
}

function chart(measured: readonly MeasuredCell[]): LineChart {
  const nameOf = ({ cell: { weights, beam } }: MeasuredCell): string => `${weights}, beam ${beam}`;
  const names = [...new Set(measured.map(nameOf))];
  return {
    ...{ kind: 'lines', name: 'batches', title: 'Translation by batch', x: 'sentences in a batch' },
    y: 'tokens a second',
    series: names.map((name) => ({
      name,
      points: measured.filter((one) => nameOf(one) === name).map(({ cell, passes }) => [cell.batch, median(passes)]),
    })),
  };
}
