import { InvalidArgumentError, type Command } from 'commander';
import type { Clip } from '../load/clips.js';
import { sweep } from '../engine/sweep.js';
import { repeated } from '../load/closed-loop.js';
import { identifyModel } from '../reports/environment.js';
import { secondsOf, type Contestant, type PeerPass } from '../processes/peers.js';
import { WHISPER_PROGRAMS, whisperProgram } from '../processes/built-tools.js';
import { peakMemoryBytesOfAll } from '../processes/process-usage.js';
import { rounded } from '../reports/report.js';
import type { ServerUnderTest } from '../processes/server-under-test.js';
import { integerFrom } from '../../src/cli/options.js';
import {
  compareCharts,
  compareTables,
  type ComparedModel,
  type ComparedWork,
} from '../reports/compare-report.js';
import { fairnessUploads, type NamedFairness } from '../reports/fairness-report.js';
import type { BenchParts } from './parts.js';
import {
  addClipOptions,
  addOutputOptions,
  benchContext,
  buildOption,
  clipsOf,
  coresAtMost,
  decoderOf,
  modelsOf,
  progress,
  publish,
  roundsOption,
  serving,
  slotOrThreadCount,
  uploadsOf,
  type BenchModel,
  type WorkOptions,
} from './setup.js';

interface Options extends WorkOptions {
  rounds: number;
  threads: number;
  slots?: number;
  peers: Peer[];
  build: string;
  longSeconds: number;
  shortClips: number;
}

type Peer = (typeof WHISPER_PROGRAMS)[number];
type Binaries = ReadonlyMap<Peer, string>;

const FAIRNESS_LIMIT_SECONDS = 60;

export function addBenchCompare(bench: Command, parts: BenchParts): void {
  const command = bench
    .command('compare')
    .description(
      "the same clips through Verbatim and whisper.cpp's own whisper-server and whisper-cli, in turns",
    )
    .option('--model <names>', 'names of models or paths of model files, by comma')
    .option('--threads <n>', 'CPU threads that each may use in all', slotOrThreadCount, coresAtMost())
    .option('--slots <n>', 'of Verbatim, which share the threads (default: one a thread)', slotOrThreadCount)
    .option('--peers <names>', 'of Verbatim, by comma', peersFrom, [...WHISPER_PROGRAMS])
    .addOption(buildOption())
    .option(
      '--long-seconds <n>',
      'length of the file that runs while short clips come; 0: no such run',
      integerFrom(0),
      1200,
    )
    .option('--short-clips <n>', 'short clips, one by one', integerFrom(1), 20);
  addOutputOptions(addClipOptions(command, 'auto,given').addOption(roundsOption(5))).action(
    (options: Options) => benchCompare(options, parts),
  );
}

async function benchCompare(options: Options, parts: BenchParts): Promise<void> {
  const context = benchContext();
  const binaries = binariesOf(options);
  const models = modelsOf(context, options.model);
  const decoders = models.map((model) => decoderOf(model, context.config, ['cpu']));
  const { kind, ...decoding } = decoders.find((one) => one.kind === 'batched') ?? { kind: 'whisper.cpp' };
  const { threads, slots = threads, clients, repeat, rounds, language } = options;
  const compared: ComparedModel[] = [];
  for (const model of models)
    compared.push(await compareModel(model, { ...options, slots }, binaries, parts));
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
      warmUp: 'all clips once through each server; whisper-cli loads its model in every run',
      runs: rounds,
      tables: compareTables(compared),
      charts: compareCharts(compared),
      notes: [
        'Each ratio is of two runs next to each other. Both greedy with fall-back, the same model file, the same number of threads in all.',
        'whisper-server takes one request at a time and holds the others. Its clips and those of whisper-cli are padded to 30 s;',
        'Verbatim encodes at the length of a window where the model was trained for that (as the bundled one is), which is part of the ratio.',
        'whisper-cli takes one language for all files of a call, so that it detects where "given" names several.',
      ],
      measurements: compared,
    },
    options,
  );
}

function peersFrom(list: string): Peer[] {
  return list.split(',').map((word) => {
    const peer = WHISPER_PROGRAMS.find((name) => name === word);
    if (peer === undefined) throw new InvalidArgumentError(`Allowed: ${WHISPER_PROGRAMS.join(', ')}.`);
    return peer;
  });
}

function binariesOf({ peers, build }: Options): Binaries {
  return new Map(peers.map((name) => [name, whisperProgram(build, name)]));
}

async function compareModel(
  model: BenchModel,
  options: Options & { slots: number },
  binaries: Binaries,
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
    const server = binaries.get('whisper-server');
    if (server !== undefined) servers.push(await parts.startWhisperServer(server, model.path, threads));
    const works: ComparedWork[] = [];
    for (const language of options.language.split(',')) {
      works.push(
        await compareWork(
          { model, servers, clips, language, cli: binaries.get('whisper-cli') },
          options,
          parts,
        ),
      );
    }
    const fairness = longSeconds === 0 ? null : await compareFairness(servers, model, clips, options, parts);
    const peakBytes = Object.fromEntries(
      servers.map(({ target, pid }) => [target.name, peakMemoryBytesOfAll(pid)]),
    );
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
  cli: string | undefined;
}

async function compareWork(
  { model, servers, clips, language, cli }: Work,
  { clients, repeat, rounds, threads }: Options,
  { serverPass, whisperCliPass }: BenchParts,
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
  const words = ['-m', model.path, '-t', String(threads), '-bs', '1', '-bo', '5', '-np', '-nt'];
  const spoken = ['-l', language === 'given' ? 'auto' : language];
  const paths = repeated(clips, repeat).map(({ path }) => path);
  const audioSeconds = secondsOf(uploads);
  if (cli !== undefined) {
    const run = (): Promise<PeerPass> => whisperCliPass(cli, [...words, ...spoken], paths, audioSeconds);
    contestants.push({ name: 'whisper-cli', run });
  }
  const measured = await sweep(contestants, {
    rounds,
    measure: ({ run }) => run(),
    onStep: (_, __, { name }) => progress(`${language}: ${name}`),
  });
  const passes = Object.fromEntries(measured.map(({ cell, passes: runs }) => [cell.name, runs]));
  return { language, audioSeconds, passes };
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
