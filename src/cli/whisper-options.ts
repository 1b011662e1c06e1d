/**
 * What scripts that call `whisper` (openai-whisper) or `whisperx` type, as `verbatim transcribe` takes it: their
 * spellings of options, their names of models and formats. Options of theirs that do not exist here are refused by
 * name: refused-whisper-options.ts has them.
 */
import { UsageError } from '../service/variables.js';
import { whisperRefusal } from './refused-whisper-options.js';
import type { FileFormat } from './rendered-transcript.js';

export const OUTPUT_FORMATS = ['txt', 'srt', 'vtt', 'json', 'tsv', 'all'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export const TASKS = ['transcribe', 'translate'] as const;

const FILES: Readonly<Record<OutputFormat, readonly FileFormat[]>> = {
  txt: ['text'],
  srt: ['srt'],
  vtt: ['vtt'],
  json: ['json'],
  tsv: ['tsv'],
  all: ['text', 'srt', 'vtt', 'json', 'tsv'],
};

/** The files that a format of theirs stands for. */
export function filesOf(format: OutputFormat): readonly FileFormat[] {
  return FILES[format];
}

/** The name that a model has here. */
export function modelName(name: string): string {
  return MODELS[name] ?? name;
}

const MODELS: Readonly<Partial<Record<string, string>>> = { large: 'large-v3', turbo: 'large-v3-turbo' };

/** By their spelling, ours. */
const SAME = new Map([
  ['--output_dir', '--output-dir'],
  ['--output_format', '--output-format'],
  ['--word_timestamps', '--word-timestamps'],
  ['--num_speakers', '--num-speakers'],
  ['--min_speakers', '--min-speakers'],
  ['--max_speakers', '--max-speakers'],
]);

/**
 * The words of a command line in our spelling; those behind `--` are files. Throws UsageError for an option that has
 * another name or form here.
 */
export function inOurSpelling(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, index) => (end >= 0 && index > end ? word : optionOf(word)));
}

function optionOf(word: string): string {
  const [, name = '', value = ''] = /^(--[a-z0-9_-]+)(=.*)?$/s.exec(word) ?? [];
  const refusal = whisperRefusal(name);
  if (refusal !== null) throw new UsageError(refusal);
  const ours = SAME.get(name);
  return ours === undefined ? word : ours + value;
}
