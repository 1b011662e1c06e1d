/**
 * Lets `verbatim transcribe` accept command lines written for `whisper` (openai-whisper) or `whisperx`: their spellings
 * of options, model names and formats. Options that do not exist here are refused by name; see
 * refused-whisper-options.ts.
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

/** The files that one of their formats stands for. */
export function filesOf(format: OutputFormat): readonly FileFormat[] {
  return FILES[format];
}

/** The name of their model here. */
export function modelName(name: string): string {
  return MODELS[name] ?? name;
}

const MODELS: Readonly<Partial<Record<string, string>>> = { large: 'large-v3', turbo: 'large-v3-turbo' };

/** Their spelling of an option, mapped to ours. */
const SAME = new Map([
  ['--output_dir', '--output-dir'],
  ['--output_format', '--output-format'],
  ['--word_timestamps', '--word-timestamps'],
  ['--num_speakers', '--num-speakers'],
  ['--min_speakers', '--min-speakers'],
  ['--max_speakers', '--max-speakers'],
]);

/**
 * Converts a command line to our spelling. Arguments after `--` are file names and stay. Throws UsageError for an
 * option that has another name or form here.
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
