import { InvalidArgumentError, Option, type Command } from 'commander';
import { MOST_SPEAKERS } from '../engine/speakers/speaker-engine.js';
import { readContext, speechModelName } from '../service/context.js';
import { UsageError } from '../service/variables.js';
import {
  ANSWER_FORMATS,
  ANY_SPEAKERS,
  MOST_PROMPT_CHARACTERS,
  TIMESTAMPS,
  type TranscriptionOptions,
} from '../transcription/options.js';
import { untilInterrupted } from './interruption.js';
import { asLanguageCode, integerFrom } from './options.js';
import { outputsOf } from './output-files.js';
import { transcribeFiles } from './transcribe-files.js';
import { filesOf, modelName, OUTPUT_FORMATS, TASKS, type OutputFormat } from './whisper-options.js';
import { FAILED } from './words.js';

interface Flags {
  language?: string;
  translateTo?: string;
  punctuate: boolean;
  diarize?: boolean;
  model?: string;
  numSpeakers?: number;
  speakers?: number;
  minSpeakers?: number;
  maxSpeakers?: number;
  json?: boolean;
  format?: TranscriptionOptions['format'];
  timestamps?: TranscriptionOptions['timestamps'];
  prompt?: string;
  output?: string;
  outputDir?: string;
  outputFormat?: OutputFormat;
  task?: (typeof TASKS)[number];
  wordTimestamps?: boolean;
}

export function addTranscribe(program: Command): void {
  program
    .command('transcribe')
    .argument(
      '<files...>',
      'WAV, FLAC, MP3 or OGG files; with ffmpeg WebM, MP4, M4A and other recordings and videos; - is standard input',
    )
    .option('--model <name>', 'an installed speech model, or bundled (default: VERBATIM_MODEL)')
    .option('--language <xx>', 'spoken language, as a code or an English name (default: detected)')
    .option('--translate-to <xx>', 'print a translation into this language')
    .addOption(new Option('--task <task>', 'translate: the same as --translate-to en').choices(TASKS))
    .option('--no-punctuate', 'lower-case words without punctuation')
    .option('--diarize', 'identify speakers')
    .addOption(speakerCount('--num-speakers <n>', 'number of speakers (with --diarize)'))
    .addOption(speakerCount('--speakers <n>', 'older name of --num-speakers'))
    .addOption(speakerCount('--min-speakers <n>', 'minimum number of speakers'))
    .addOption(speakerCount('--max-speakers <n>', 'maximum number of speakers'))
    .option('--prompt <text>', `names and words to expect, at most ${MOST_PROMPT_CHARACTERS} characters`)
    .addOption(
      new Option('--format <format>', 'format of the output (default: text); srt and vtt are subtitles').choices(
        ANSWER_FORMATS,
      ),
    )
    .addOption(
      new Option('--timestamps <which>', 'times in JSON: of segments, or of segments and words').choices(TIMESTAMPS),
    )
    .addOption(
      new Option('--word-timestamps <bool>', 'True: include the times of words in JSON').argParser(trueOrFalse),
    )
    .option('--json', 'same as --format json; without --timestamps, with segments as they were decoded')
    .option('--output <file>', 'write to this file')
    .addOption(
      new Option(
        '-f, --output-format <format>',
        'write files of this format, as whisper and whisperx do, into the current directory or --output-dir',
      ).choices(OUTPUT_FORMATS),
    )
    .option('-o, --output-dir <dir>', 'write a file for each input into this directory; needed for several')
    .description('transcribe files on this machine, without a server')
    .action(transcribe);
}

function trueOrFalse(value: string): boolean {
  if (/^(true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  throw new InvalidArgumentError('allowed: True, False.');
}

function speakerCount(flags: string, description: string): Option {
  return new Option(flags, description).argParser(integerFrom(1, MOST_SPEAKERS));
}

async function transcribe(files: string[], flags: Flags): Promise<void> {
  const options = transcriptionOptions(flags);
  const { config, ...models } = readContext();
  const model = flags.model === undefined ? config.model : speechModelName(modelName(flags.model), models.manifest);
  const context = { ...models, config: { ...config, model } };
  const formats = flags.outputFormat === undefined ? [options.format] : filesOf(flags.outputFormat);
  const place = { file: flags.output, directory: directoryOf(flags) };
  const outputs = outputsOf(files, { ...place, formats });
  const batch = { options, outputs, showsDecoded: flags.json === true, writtenTo: placeText(place) };
  const failed = await untilInterrupted((signal) => transcribeFiles(batch, context, signal));
  if (failed > 0) process.exitCode = FAILED;
}

/** --output-format without a place writes to the current directory, as whisper does. */
function directoryOf({ output, outputDir, outputFormat }: Flags): string | undefined {
  return outputDir ?? (outputFormat !== undefined && output === undefined ? '.' : undefined);
}

/** The place as the summary names it. */
function placeText({ file, directory }: { file: string | undefined; directory: string | undefined }): string | null {
  if (directory === undefined) return file ?? null;
  return directory.endsWith('/') ? directory : `${directory}/`;
}

/** Throws UsageError if options conflict. */
function transcriptionOptions(flags: Flags): TranscriptionOptions {
  const { language = 'auto', punctuate, diarize = false, prompt = null } = flags;
  const characters = Array.from(prompt ?? '').length;
  if (characters > MOST_PROMPT_CHARACTERS) {
    throw new UsageError(`--prompt has ${characters} characters; allowed: at most ${MOST_PROMPT_CHARACTERS}.`);
  }
  return {
    // The command loads the model of --model itself.
    model: null,
    language: language === 'auto' ? null : asLanguageCode('--language', language),
    translateTo: targetOf(flags),
    ...{ punctuate, diarize, prompt },
    ...formOf(flags),
    ...speakersOf(flags),
    describe: false,
    temperature: 0,
  };
}

function targetOf({ translateTo, task }: Flags): string | null {
  const target = translateTo === undefined ? null : asLanguageCode('--translate-to', translateTo);
  if (task === undefined) return target;
  if (target !== null) throw new UsageError(`--task ${task} cannot be used with --translate-to.`);
  return task === 'translate' ? 'en' : null;
}

/** Throws UsageError if options conflict. */
function formOf(flags: Flags): Pick<TranscriptionOptions, 'format' | 'timestamps'> {
  const { json = false, outputFormat } = flags;
  if (json && flags.format !== undefined && flags.format !== 'json') {
    throw new UsageError(`--json cannot be used with --format ${flags.format}.`);
  }
  if (outputFormat !== undefined) return formOfFiles(outputFormat, flags);
  const format = json ? 'json' : (flags.format ?? 'text');
  if (flags.timestamps !== undefined && format !== 'json') {
    throw new UsageError('--timestamps needs --format json or --json.');
  }
  if (flags.wordTimestamps === true && format !== 'json') {
    throw new UsageError('--word-timestamps needs JSON: --format json, --json, --output-format json or all.');
  }
  if (flags.wordTimestamps !== undefined && flags.timestamps !== undefined) {
    throw new UsageError('--word-timestamps cannot be used with --timestamps.');
  }
  return { format, timestamps: flags.wordTimestamps === true ? 'word' : (flags.timestamps ?? 'none') };
}

/**
 * All formats except plain text are made from segments. Segment borders come from word times, even if those are not
 * written.
 */
function formOfFiles(
  outputFormat: OutputFormat,
  { json, format, timestamps, wordTimestamps }: Flags,
): Pick<TranscriptionOptions, 'format' | 'timestamps'> {
  for (const [option, value] of Object.entries({ '--json': json, '--format': format, '--timestamps': timestamps })) {
    if (value !== undefined) throw new UsageError(`--output-format cannot be used with ${option}.`);
  }
  if (outputFormat !== 'txt') return { format: 'json', timestamps: wordTimestamps === true ? 'word' : 'segment' };
  if (wordTimestamps === true) throw new UsageError('--word-timestamps cannot be used with --output-format txt.');
  return { format: 'text', timestamps: 'none' };
}

/** Throws UsageError if options conflict. */
function speakersOf({
  diarize = false,
  numSpeakers,
  speakers,
  minSpeakers,
  maxSpeakers,
}: Flags): Pick<TranscriptionOptions, 'minSpeakers' | 'maxSpeakers'> {
  const exact = { '--num-speakers': numSpeakers, '--speakers': speakers };
  const bounds = { '--min-speakers': minSpeakers, '--max-speakers': maxSpeakers };
  for (const [option, count] of Object.entries({ ...exact, ...bounds })) {
    if (count !== undefined && !diarize) throw new UsageError(`${option} needs --diarize.`);
  }
  const [given, other] = Object.entries(exact).filter(([, count]) => count !== undefined);
  if (given !== undefined && other !== undefined) throw new UsageError(`${given[0]} cannot be used with ${other[0]}.`);
  if (given !== undefined && (minSpeakers ?? maxSpeakers) !== undefined) {
    throw new UsageError(`${given[0]} cannot be used with --min-speakers or --max-speakers.`);
  }
  const least = minSpeakers ?? given?.[1] ?? ANY_SPEAKERS.minSpeakers;
  const most = maxSpeakers ?? given?.[1] ?? ANY_SPEAKERS.maxSpeakers;
  if (least <= most) return { minSpeakers: least, maxSpeakers: most };
  throw new UsageError(`--min-speakers is ${least}, which is more than --max-speakers, ${most}.`);
}
