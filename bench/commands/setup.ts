/** What the benchmark commands share: which model, which clips, where the report goes. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { Option, type Command } from 'commander';
import type { SpeechDecoder } from '../../src/engine/speech/speech-models.js';
import { speechDecoder } from '../../src/service/speech-decoder.js';
import { loadBinding, type AttentionHead, type WindowPolicy } from '../../src/engine/binding.js';
import { languageFor, measureClips, readClips, type Clip } from '../load/clips.js';
import { describeEnvironment, type Environment } from '../reports/environment.js';
import { readUpload, type Upload } from '../load/http-target.js';
import { toMarkdown, writeReport, type Report } from '../reports/report.js';
import type { VerbatimOptions } from '../processes/verbatim-process.js';
import {
  alignmentHeads,
  findModel,
  kindText,
  windowPolicy,
  type Manifest,
  type SpeechModelEntry,
} from '../../src/models/manifest.js';
import { modelPath } from '../../src/models/store.js';
import { packageRoot } from '../../src/package-root.js';
import type { Config } from '../../src/service/config.js';
import { readContext, type ServiceContext } from '../../src/service/context.js';
import { integerFrom, integerList } from '../../src/cli/options.js';

export interface BenchModel {
  name: string;
  path: string;
  policy: WindowPolicy;
  /** null: every language the weights know. */
  languages: string[] | null;
  /** What alone decodes it; absent: either decoder does. */
  onlyDecoder?: NonNullable<SpeechModelEntry['decoder']>;
  /** Those that words are aligned by; absent: the addon chooses. */
  alignmentHeads?: readonly AttentionHead[];
  /** Known to `serve` by its name. */
  installed: boolean;
}

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
  return new Option('--build <dir>', 'where CMake has built the programs').default(
    join(packageRoot, 'build'),
  );
}

/** --model of a command that takes one. */
export function modelOption(): Option {
  const text =
    'a model of the manifest, or the path of a model file (default: the one that serve would take)';
  return new Option('--model <name>', text);
}

export function clipsOption(): Option {
  return new Option('--clips <path>', 'a directory of audio files, or one file').default(DEFAULT_CLIPS);
}

export function languageOption(fallback = 'auto'): Option {
  const text = 'auto, given (by refs.json beside the clips) or a code';
  return new Option('--language <xx>', text).default(fallback);
}

/** Of the commands that compare what is heard with what is said. */
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

/** One model: the named one, or the one that `serve` would take. */
export function modelNamed(context: ServiceContext, name: string | undefined): BenchModel {
  const { config, manifest } = context;
  return modelOf(context, name ?? config.model ?? manifest.defaultSpeechModel);
}

/** By comma; else the one that `serve` would take. */
export function modelsOf(context: ServiceContext, names: string | undefined): BenchModel[] {
  return names === undefined
    ? [modelNamed(context, undefined)]
    : names.split(',').map((name) => modelOf(context, name));
}

/** What makes `serve` take this model with these settings. */
export function serving(
  { name, path, installed }: BenchModel,
  { slots, threads, deviceSetting: device }: Pick<Config, 'slots' | 'threads' | 'deviceSetting'>,
): VerbatimOptions {
  const env = {
    VERBATIM_DEVICE: device,
    ...(slots === null ? {} : { VERBATIM_SLOTS: String(slots) }),
    VERBATIM_THREADS: String(threads),
  };
  return installed ? { env: { ...env, VERBATIM_MODEL: name } } : { env, modelFile: path };
}

/** The clips as a client sends them. */
export async function uploadsOf(
  { policy }: BenchModel,
  clips: readonly Clip[],
  language: string,
): Promise<Upload[]> {
  const measured = await measureClips(loadBinding(), policy, clips);
  return measured.map((clip) => readUpload(clip.path, clip.seconds, languageFor(clip, language)));
}

/** A name of the manifest, or the path of a model file, which is then taken as a published Whisper model. */
function modelOf({ roots, manifest }: ServiceContext, name: string): BenchModel {
  if (existsSync(name)) {
    return { name, path: resolve(name), policy: fullWindows(manifest), languages: null, installed: false };
  }
  const entry = findModel(manifest, name);
  if (entry.kind !== 'speech')
    throw new Error(`"${name}" is a ${kindText(entry)} model; a speech model is asked for.`);
  const path = modelPath(roots, entry);
  if (!existsSync(path)) {
    throw new Error(`The model "${name}" is not installed. Run: npx verbatim models pull ${name}`);
  }
  const languages = entry.languages === 'whisper' ? null : entry.languages;
  const heads = alignmentHeads(manifest, entry);
  return {
    ...{ name, path, policy: windowPolicy(manifest, entry), languages, installed: true },
    ...(entry.decoder === undefined ? {} : { onlyDecoder: entry.decoder }),
    ...(heads === undefined ? {} : { alignmentHeads: heads }),
  };
}

/** Throws as speechDecoder() does. */
export function decoderOf(
  { name, onlyDecoder }: BenchModel,
  settings: Pick<Config, 'speechDecoder' | 'compute' | 'batch'>,
  devices: readonly string[],
): SpeechDecoder {
  const only = onlyDecoder === undefined ? {} : { decoder: onlyDecoder };
  return speechDecoder(settings, devices, { name, ...only });
}

function fullWindows(manifest: Manifest): WindowPolicy {
  const policy = manifest.windowPolicies['full'];
  if (policy === undefined) throw new Error('The manifest lacks the window policy "full".');
  return policy;
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
