import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { builtTool, PROGRAMS_OF, whisperProgram } from '../processes/built-tools.js';
import type { BenchParts } from './parts.js';
import { modelsOf } from './bench-models.js';
import { benchContext, buildOption, clipsOf, DEFAULT_CLIPS } from './setup.js';

interface Options {
  quick?: boolean;
  from?: string;
  model?: string;
  build: string;
}

interface Preset {
  clips: readonly string[];
  engine: readonly string[];
  tune: readonly string[];
  compare: readonly string[];
  overhead: readonly string[];
  memory: readonly string[];
}

const FULL: Preset = {
  clips: ['--count', '60'],
  engine: ['--slots', '1,2,4,8', '--threads', '1,2', '--rounds', '5'],
  tune: ['--pairs', '7', '--sweep', '3'],
  compare: ['--rounds', '5'],
  overhead: ['--rounds', '20'],
  memory: ['--minutes', '120'],
};

const QUICK: Preset = {
  clips: ['--count', '12'],
  engine: ['--slots', '1,2', '--threads', '1,2', '--rounds', '1'],
  tune: ['--pairs', '2', '--sweep', '1'],
  compare: ['--rounds', '1', '--long-seconds', '300', '--short-clips', '8'],
  overhead: ['--rounds', '3'],
  memory: ['--slots', '1,2', '--repeat', '1', '--minutes', '1', '--sample-seconds', '2'],
};

export function addBenchThroughput(bench: Command, parts: BenchParts): void {
  bench
    .command('throughput')
    .description(
      'every report that needs no server of yours, one after the other: clips, engine, tune, compare, overhead, memory',
    )
    .argument('<directory>', 'where clips, reports and the tuned settings are written')
    .option('--quick', 'some ten minutes on two idle cores, for a first look; without it hours, for figures')
    .option('--from <dir>', 'sentences to make the clips of, with a refs.json')
    .option('--model <names>', 'of compare: names of models or paths of model files, by comma')
    .addOption(buildOption())
    .action((directory: string, options: Options) => benchThroughput(directory, options, parts));
}

/** Words for `verbatim bench`, one command after the other. */
export function throughputSteps(directory: string, { quick = false, from, model, build }: Options): string[][] {
  const preset = quick ? QUICK : FULL;
  const clips = join(directory, 'clips');
  const output = ['--output', directory];
  const programs = ['--build', resolve(build)];
  const tuned = ['--file', join(directory, 'verbatim.tuned.json')];
  return [
    ['clips', clips, ...preset.clips, ...programs, ...given('--from', from)],
    ['engine', ...output, '--clips', clips, ...preset.engine],
    ['tune', ...output, '--clips', clips, ...preset.tune, ...tuned],
    ['compare', ...output, '--clips', clips, ...preset.compare, ...programs, ...given('--model', model)],
    ['overhead', ...output, ...preset.overhead],
    ['memory', ...output, ...preset.memory],
  ];
}

function given(flag: string, value: string | undefined): string[] {
  return value === undefined ? [] : [flag, value];
}

async function benchThroughput(directory: string, options: Options, parts: BenchParts): Promise<void> {
  // Missing programs are reported before the first hour, not after it.
  const { build, model, from = DEFAULT_CLIPS } = options;
  clipsOf(from);
  const models = await modelsOf(benchContext(), model);
  builtTool(build, 'join_clips');
  for (const { family } of models) for (const name of PROGRAMS_OF[family]) whisperProgram(build, name);
  // A step that fails does not keep the others from being run.
  const failed = throughputSteps(resolve(directory), options).filter((words) => !succeeds(words, parts));
  if (failed.length > 0) process.exitCode = 1;
}

function succeeds(words: readonly string[], { runBench }: BenchParts): boolean {
  const start = performance.now();
  const done = runBench(words);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  console.error(`${words[0] ?? ''}: ${done ? 'done' : 'FAILED'} in ${seconds} s`);
  return done;
}
