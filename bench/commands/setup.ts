/** What the benchmark commands share: which model, which clips, where the report goes. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Option, type Command } from 'commander';
import { loadBinding } from '../../src/engine/binding.js';
import { languageFor, measureClips, readClips, type Clip } from '../load/clips.js';
import { describeEnvironment, type Environment } from '../reports/environment.js';
import { readUpload, type Upload } from '../load/http-target.js';
import { toMarkdown, writeReport, type Report } from '../reports/report.js';
import type { BenchModel } from './bench-models.js';
import { packageRoot } from '../../src/package-root.js';
import { readContext, type ServiceContext } from '../../src/service/context.js';
import { integerFrom } from '../../src/cli/options.js';
import { integerList } from './lists.js';

export interface OutputOptions {
  output?: string;
  json?: boolean;
}

/** What is transcribed in one measurement, and how. */
export interface WorkOptions extends OutputOptions {
  model?: string;
  clips: string;
  language: string;
  clients: number;
  repeat: number;
}

/** Short sentences, and longer ones: what every checkout has. */
export const DEFAULT_CLIPS = join(packageRoot, 'test', 'fixtures', 'audio', 'clips');

/** Of --clips, where the words are needed. */
export const SPOKEN_CLIPS = 'audio files with a refs.json: [{file, language, text}]';

export function addOutputOptions(command: Command): Command {
  return command
    .option('--output <dir>', 'write the report there: JSON, Markdown and charts (SVG)')
    .option('--json', 'print JSON instead of Markdown');
}

export function buildOption(): Option {
  return new Option('--build <dir>', 'where CMake has built the programs').default(join(packageRoot, 'build'));
}

/** --model of a command that takes one. */
export function modelOption(): Option {
  const text = 'a model of the manifest, or the path of a model file (default: the one that serve would take)';
  return new Option('--model <name>', text);
}

export function clipsOption(): Option {
  return new Option('--clips <path>', 'a directory of audio files, or one file').default(DEFAULT_CLIPS);
}

export function languageOption(fallback = 'auto'): Option {
  const text = 'auto, given (by refs.json beside the clips) or a code';
  return new Option('--language <xx>', text).default(fallback);
}

/** Of the commands that compare transcripts with a reference. */
export interface SpokenOptions extends OutputOptions {
  model?: string;
  clips: string;
}

export function addSpokenOptions(command: Command): Command {
  const clips = new Option('--clips <dir>', SPOKEN_CLIPS).default(DEFAULT_CLIPS);
  return addOutputOptions(command.addOption(modelOption()).addOption(clips));
}

export function addClipOptions(command: Command, language = 'auto'): Command {
  return command
    .addOption(clipsOption())
    .addOption(languageOption(language))
    .option('--clients <n>', 'requests in flight', integerFrom(1), 8)
    .option('--repeat <n>', 'times the clips are transcribed in a measurement', integerFrom(1), 1);
}

export function roundsOption(fallback: number): Option {
  return new Option('--rounds <n>', 'measurements of each cell, taken in turns')
    .argParser(integerFrom(1))
    .default(fallback);
}

/** As VERBATIM_SLOTS and VERBATIM_THREADS take it. */
const MOST_SLOTS_OR_THREADS = 256;

/** Parsers for commander. */
export const slotOrThreadCount = integerFrom(1, MOST_SLOTS_OR_THREADS);
export const slotOrThreadCounts = integerList(MOST_SLOTS_OR_THREADS);

/** What may be written for --threads where there are more. */
export function coresAtMost(): number {
  return Math.min(availableParallelism(), MOST_SLOTS_OR_THREADS);
}

/** The clips as a client sends them. */
export async function uploadsOf({ policy }: BenchModel, clips: readonly Clip[], language: string): Promise<Upload[]> {
  const measured = await measureClips(loadBinding(), policy, clips);
  return measured.map((clip) => readUpload(clip.path, clip.seconds, languageFor(clip, language)));
}

/** Checks that a path that was not given leads to the clips of a checkout. */
export function clipsOf(path: string): Clip[] {
  if (path === DEFAULT_CLIPS && !existsSync(path)) {
    throw new Error('The sample clips are not installed with this package; name some with --clips.');
  }
  return readClips(path);
}

export function benchContext(): ServiceContext & { environment: Environment } {
  return { ...readContext(), environment: describeEnvironment(packageRoot) };
}

export function publish(report: Report, { output, json }: OutputOptions): void {
  console.log(json === true ? JSON.stringify(report, null, 2) : toMarkdown(report));
  if (output === undefined) return;
  for (const path of writeReport(output, report)) progress(`wrote ${path}`);
}

/** To a terminal only, on stderr. */
export function progress(line: string): void {
  if (process.stderr.isTTY) console.error(line);
}
