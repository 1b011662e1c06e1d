import { InvalidArgumentError, type Command } from 'commander';
import type { Clip } from '../load/clips.js';
import { sweep } from '../engine/sweep.js';
import { repeated } from '../load/closed-loop.js';
import { identifyModel } from '../reports/environment.js';
import { secondsOf, type Contestant, type PeerPass } from '../processes/peers.js';
import { PROGRAMS_OF, WHISPER_PROGRAMS, whisperProgram, type WhisperProgram } from '../processes/built-tools.js';
import { UsageError } from '../../src/service/variables.js';
import { peakMemoryBytesOfAll } from '../processes/process-usage.js';
import { rounded } from '../reports/report.js';
import type { ServerUnderTest } from '../processes/server-under-test.js';
import { integerFrom } from '../../src/cli/options.js';
import { compareCharts, compareTables, type ComparedModel, type ComparedWork } from '../reports/compare-report.js';
import { fairnessUploads, type NamedFairness } from '../reports/fairness-report.js';
import type { BenchParts } from './parts.js';
import { type BenchModel, decoderOf, modelsOf, serving } from './bench-models.js';
import {
  addClipOptions,
  addOutputOptions,
  benchContext,
  buildOption,
  clipsOf,
  coresAtMost,
  progress,
  publish,
  roundsOption,
  slotOrThreadCount,
  uploadsOf,
  type WorkOptions,
} from './setup.js';

interface Options extends WorkOptions {
  rounds: number;
  threads: number;
  slots?: number;
  peers?: WhisperProgram[];
  build: string;
  longSeconds: number;
  shortClips: number;
}

const OF_WHISPER = [
  'Both greedy with fall-back. The clips of whisper-server and whisper-cli are padded to 30 s;',
  'Verbatim encodes at the length of a window where the model was trained for that (as the bundled one is), which ' +
    'is part of the ratio.',
];
const NOTES: Readonly<Record<WhisperProgram, readonly string[]>> = {
  'whisper-server': [...OF_WHISPER, 'whisper-server takes one request at a time and holds the others.'],
  'whisper-cli': [
    ...OF_WHISPER,
    'whisper-cli takes one language for all files of a call: where "given" names several, it detects the language.',
  ],
  'parakeet-cli': ['parakeet-cli takes no language, and a file of any length as one window.'],
};

const FAIRNESS_LIMIT_SECONDS = 60;

export function addBenchCompare(bench: Command, parts: BenchParts): void {
  const command = bench
    .command('compare')
    .description(
      "the same clips through Verbatim and whisper.cpp's own programs, in turns: whisper-server and whisper-cli, " +
        'of a Parakeet model parakeet-cli',
    )
    .option('--model <names>', 'names of models or paths of model files, by comma')
    .option('--threads <n>', 'CPU threads that each may use in all', slotOrThreadCount, coresAtMost())
    .option('--slots <n>', 'of Verbatim, which share the threads (default: one a thread)', slotOrThreadCount)
    .option('--peers <names>', 'of Verbatim, by comma (default: all that decode the model)', peersFrom)
    .addOption(buildOption())
    .option(
      '--long-seconds <n>',
      'length of the file that runs while short clips come; 0: no such run',
      integerFrom(0),
      1200,
    )
    .option('--short-clips <n>', 'short clips, one by one', integerFrom(1), 20);
  addOutputOptions(addClipOptions(command, 'auto,given').addOption(roundsOption(5))).action((options: Options) =>
    benchCompare(options, parts),
  );
}

async function benchCompare(options: Options, parts: BenchParts): Promise<void> {
  const context = benchContext();
  const models = await modelsOf(context, options.model);
  // Missing programs are reported before anything is measured.
  for (const model of models) for (const name of peersOf(model, options)) whisperProgram(options.build, name);
  const decoders = models.map((model) => decoderOf(model, context.config, ['cpu']));
  const { kind, ...decoding } = decoders.find((one) => one.kind === 'batched') ?? { kind: 'whisper.cpp' };
  const { threads, slots = threads, clients, repeat, rounds, language } = options;
  const compared: ComparedModel[] = [];
  for (const model of models) compared.push(await compareModel(model, { ...options, slots }, parts));
  const [{ clips, audioSeconds } = { clips: 0, audioSeconds: 0 }] = compared;
  publish(
    {
      name: 'compare',
      title: "Verbatim and whisper.cpp's own programs",
      environment: context.environment,
      models: await Promise.all(models.map(({ name, path }) => identifyModel(name, path))),
      settings: {
        decoder: [...new Set([kind, ...decoders.map((one) => one.kind)])].join(', '),
        ...decoding,
        accelerator: context.config.accelerator,
        clips,
        'audio s': rounded(audioSeconds),
        clients,
        repeat,
        language,
        threads,
        slots,
      },
      warmUp: 'all clips once through each server; a command line loads its model in every run',
      runs: rounds,
      tables: compareTables(compared),
      charts: compareCharts(compared),
      notes: [
        'Each ratio is of two runs next to each other: the same model file, the same number of threads in all.',
        ...models.flatMap((model) => peersOf(model, options)).flatMap((name) => NOTES[name]),
      ].filter((note, index, all) => all.indexOf(note) === index),
      measurements: compared,
    },
    options,
  );
}

function peersFrom(list: string): WhisperProgram[] {
  return list.split(',').map((word) => {
    const peer = WHISPER_PROGRAMS.find((name) => name === word);
    if (peer === undefined) throw new InvalidArgumentError(`Allowed: ${WHISPER_PROGRAMS.join(', ')}.`);
    return peer;
  });
}

/** Those that the model is compared with. */
function peersOf({ name, family }: BenchModel, { peers }: Pick<Options, 'peers'>): WhisperProgram[] {
  const own = PROGRAMS_OF[family];
  const wanted = own.filter((program) => peers?.includes(program) ?? true);
  if (wanted.length > 0) return wanted;
  throw new UsageError(`--peers is "${peers?.join()}"; allowed for ${name}: ${own.join(', ')}.`);
}

async function compareModel(
  model: BenchModel,
  options: Options & { slots: number },
  parts: BenchParts,
): Promise<ComparedModel> {
  const { threads, slots, longSeconds } = options;
  const clips = clipsOf(options.clips);
  const servers: ServerUnderTest[] = [];
  try {
    servers.push(
      await parts.startVerbatim(
        serving(model, { slots, threads: Math.max(1, Math.floor(threads / slots)), deviceSetting: 'cpu' }),
      ),
    );
    const peers = peersOf(model, options);
    if (peers.includes('whisper-server')) {
      const server = whisperProgram(options.build, 'whisper-server');
      servers.push(await parts.startWhisperServer(server, model.path, threads));
    }
    const cli = peers.find((name) => name !== 'whisper-server');
    const works: ComparedWork[] = [];
    for (const language of options.language.split(',')) {
      works.push(await compareWork({ model, servers, clips, language, cli }, options, parts));
    }
    const fairness = longSeconds === 0 ? null : await compareFairness(servers, model, clips, options, parts);
    const peakBytes = Object.fromEntries(servers.map(({ target, pid }) => [target.name, peakMemoryBytesOfAll(pid)]));
    const { audioSeconds = 0 } = works[0] ?? {};
    return { model: model.name, clips: clips.length, audioSeconds, works, ...fairness, peakBytes };
  } finally {
    for (const server of servers) await server.stop();
  }
}

interface Work {
  model: BenchModel;
  servers: readonly ServerUnderTest[];
  clips: readonly Clip[];
  language: string;
  /** By its name. */
  cli: WhisperProgram | undefined;
}

async function compareWork(
  { model, servers, clips, language, cli }: Work,
  { clients, repeat, rounds, threads, build }: Options,
  { serverPass, commandLinePass }: BenchParts,
): Promise<ComparedWork> {
  const uploads = repeated(await uploadsOf(model, clips, language), repeat);
  const contestants: Contestant[] = servers.map(({ target }) => ({
    name: target.name,
    run: () => serverPass(target, uploads, clients),
  }));
  for (const { name, run } of contestants) {
    progress(`${model.name}, language ${language}: warm-up of ${name}`);
    await run();
  }
  const words = ['-m', model.path, '-t', String(threads), '-np', ...wordsOf(cli, language)];
  const paths = repeated(clips, repeat).map(({ path }) => path);
  const audioSeconds = secondsOf(uploads);
  if (cli !== undefined) {
    const binary = whisperProgram(build, cli);
    const run = (): Promise<PeerPass> => commandLinePass(binary, words, paths, audioSeconds);
    contestants.push({ name: cli, run });
  }
  const measured = await sweep(contestants, {
    rounds,
    measure: ({ run }) => run(),
    onStep: (_, __, { name }) => progress(`${language}: ${name}`),
  });
  const passes = Object.fromEntries(measured.map(({ cell, passes: runs }) => [cell.name, runs]));
  return { language, audioSeconds, passes };
}

/** What each takes beside model, threads and files. */
function wordsOf(cli: WhisperProgram | undefined, language: string): string[] {
  if (cli === 'parakeet-cli') return ['-ng'];
  return ['-bs', '1', '-bo', '5', '-nt', '-l', language === 'given' ? 'auto' : language];
}

async function compareFairness(
  servers: readonly ServerUnderTest[],
  model: BenchModel,
  clips: readonly Clip[],
  options: Options,
  { measureFairness }: BenchParts,
): Promise<Pick<ComparedModel, 'shortSeconds' | 'longSeconds' | 'fairness'>> {
  const uploads = await fairnessUploads(options, model, await uploadsOf(model, clips, 'auto'));
  const fairness: NamedFairness[] = [];
  for (const { target } of servers) {
    progress(`short clips behind a long file: ${target.name}`);
    const limits = { count: options.shortClips, limitSeconds: FAIRNESS_LIMIT_SECONDS };
    fairness.push({ name: target.name, fairness: await measureFairness({ target, ...uploads, ...limits }) });
  }
  return { shortSeconds: uploads.short.seconds, longSeconds: uploads.long.seconds, fairness };
}
