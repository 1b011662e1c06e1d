import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { measureClips, type MeasuredClip } from '../../bench/clips.js';
import { repeated } from '../../bench/closed-loop.js';
import { identifyModel } from '../../bench/environment.js';
import { measureFairness, type Fairness } from '../../bench/fairness.js';
import { readUpload, type Upload } from '../../bench/http-target.js';
import {
  inTurns,
  secondsOf,
  serverPass,
  whisperCliPass,
  type Contestant,
  type PeerPass,
} from '../../bench/peers.js';
import { peakMemoryBytes } from '../../bench/process-usage.js';
import { rounded, withSpread, type Table } from '../../bench/report.js';
import { startVerbatim, startWhisperServer, type ServerUnderTest } from '../../bench/server-processes.js';
import { median, pairedRatios, summarize } from '../../bench/statistics.js';
import { loadBinding } from '../../engine/binding.js';
import { packageRoot } from '../context.js';
import { integerFrom } from '../options.js';
import { fairnessTable, fairnessUploads } from './http.js';
import {
  addClipOptions,
  addOutputOptions,
  benchContext,
  clipsOf,
  modelsOf,
  progress,
  publish,
  roundsOption,
  type OutputOptions,
} from './setup.js';

interface Options extends OutputOptions {
  model?: string;
  clips: string;
  language: string;
  clients: number;
  repeat: number;
  rounds: number;
  threads: number;
  slots?: number;
  whisperBin: string;
  longSeconds: number;
  shortClips: number;
}

export function addBenchCompare(bench: Command): void {
  const command = bench
    .command('compare')
    .description(
      "the same clips through Verbatim and whisper.cpp's own whisper-server and whisper-cli, in turns",
    )
    .option('--model <name>', 'a model of the manifest (default: the one that serve would take)')
    .option('--threads <n>', 'CPU threads that each may use in all', integerFrom(1), availableParallelism())
    .option('--slots <n>', 'of Verbatim, which share the threads (default: one a thread)', integerFrom(1))
    .option(
      '--whisper-bin <dir>',
      'where whisper-server and whisper-cli lie',
      join(packageRoot, 'build', 'bin'),
    )
    .option(
      '--long-seconds <n>',
      'length of the file that runs while short clips come; 0: no such run',
      integerFrom(0),
      1200,
    )
    .option('--short-clips <n>', 'short clips, one by one', integerFrom(1), 20);
  addOutputOptions(addClipOptions(command).addOption(roundsOption(5))).action(benchCompare);
}

async function benchCompare(options: Options): Promise<void> {
  const context = benchContext();
  const [model] = modelsOf(context, options.model);
  if (model === undefined) throw new Error('No model was named.');
  const binaries = peersIn(options.whisperBin);
  const clips = await measureClips(loadBinding(), model.policy, clipsOf(options.clips));
  const uploads = clips.map((clip) => readUpload(clip.path, clip.seconds, spoken(clip, options.language)));
  const { threads, slots = threads, clients, repeat, rounds, language } = options;
  const servers: ServerUnderTest[] = [];
  try {
    const env = {
      VERBATIM_SLOTS: String(slots),
      VERBATIM_THREADS: String(Math.max(1, Math.floor(threads / slots))),
    };
    servers.push(await startVerbatim({ ...env, VERBATIM_MODEL: model.name, VERBATIM_DEVICE: 'cpu' }));
    servers.push(await startWhisperServer(binaries.server, model.path, threads));
    const work = repeated(uploads, repeat);
    const contestants = servers.map(({ target }) => ({
      name: target.name,
      run: () => serverPass(target, work, clients),
    }));
    for (const { run } of contestants) await run();
    const cli = whisperCli(binaries.cli, model.path, options, repeated(clips, repeat));
    const passes = await inTurns([...contestants, cli], rounds, progress);
    const fairness = await fairnessOf(servers, uploads, options);
    publish(
      {
        name: 'compare',
        title: "Verbatim and whisper.cpp's own programs",
        environment: context.environment,
        models: [await identifyModel(model.name, model.path)],
        settings: {
          clips: work.length,
          'audio s': rounded(secondsOf(work)),
          clients,
          language,
          threads,
          slots,
        },
        warmUp: 'all clips once through each server; whisper-cli loads its model in every run',
        runs: rounds,
        tables: [throughputTable(passes, servers), ...fairness.tables],
        notes: [
          'Each ratio is of two runs next to each other. Both greedy with fall-back, the same model file, the same number of threads in all.',
          'whisper-server takes one request at a time and holds the others. Its clips and those of whisper-cli are padded to 30 s;',
          'Verbatim encodes at the length of a window where the model was trained for that (as the bundled one is), which is part of the ratio.',
        ],
        measurements: { passes: Object.fromEntries(passes), fairness: fairness.measured },
      },
      options,
    );
  } finally {
    for (const server of servers) await server.stop();
  }
}

function peersIn(directory: string): { server: string; cli: string } {
  const [server, cli] = ['whisper-server', 'whisper-cli'].map((name) => {
    const path = join(directory, name);
    if (!existsSync(path)) {
      throw new Error(
        `${path} is missing. Build it: cmake --build build --target whisper-server whisper-cli`,
      );
    }
    return path;
  });
  return { server: server ?? '', cli: cli ?? '' };
}

function spoken(clip: MeasuredClip, language: string): string {
  return language === 'given' ? (clip.language ?? 'auto') : language;
}

/** One language for all files of a call: where each has its own, whisper-cli has to detect it. */
function whisperCli(
  binary: string,
  modelPath: string,
  { threads, language }: Options,
  clips: readonly MeasuredClip[],
): Contestant {
  const words = ['-m', modelPath, '-t', String(threads), '-bs', '1', '-bo', '5', '-np', '-nt'];
  const spokenBy = ['-l', language === 'given' ? 'auto' : language];
  const seconds = clips.reduce((total, clip) => total + clip.seconds, 0);
  const paths = clips.map(({ path }) => path);
  return { name: 'whisper-cli', run: () => whisperCliPass(binary, [...words, ...spokenBy], paths, seconds) };
}

function throughputTable(
  passes: ReadonlyMap<string, PeerPass[]>,
  servers: readonly ServerUnderTest[],
): Table {
  const ours = (passes.get('verbatim') ?? []).map(({ rtfx }) => rtfx);
  const rows = [...passes].map(([name, runs]) => {
    const rates = runs.map(({ rtfx }) => rtfx);
    const latency = (value: (pass: PeerPass) => number | undefined): number | null => {
      const values = runs.map(value).filter((one) => one !== undefined);
      return values.length === 0 ? null : Math.round(median(values));
    };
    const pid = servers.find(({ target }) => target.name === name)?.pid;
    return {
      program: name,
      RTFx: withSpread(summarize(rates)),
      'p50 ms': latency((pass) => pass.latency?.p50),
      'p95 ms': latency((pass) => pass.latency?.p95),
      'peak MiB': pid === undefined ? null : Math.round(peakMemoryBytes(pid) / 2 ** 20),
      'verbatim is faster by': withSpread(summarize(pairedRatios(ours, rates))),
    };
  });
  return { title: 'Throughput', rows };
}

async function fairnessOf(
  servers: readonly ServerUnderTest[],
  uploads: readonly Upload[],
  options: Options,
): Promise<{ tables: Table[]; measured: { name: string; fairness: Fairness }[] }> {
  if (options.longSeconds === 0) return { tables: [], measured: [] };
  const { short, long } = await fairnessUploads(options, uploads);
  const measured: { name: string; fairness: Fairness }[] = [];
  for (const { target } of servers) {
    progress(`short clips behind a long file: ${target.name}`);
    const limits = { count: options.shortClips, limitSeconds: 60 };
    measured.push({ name: target.name, fairness: await measureFairness({ target, short, long, ...limits }) });
  }
  return { tables: [fairnessTable(measured, short, long)], measured };
}
