import { Option, type Command } from 'commander';
import { MOST_SPEAKERS } from '../engine/speakers/speaker-engine.js';
import { readContext } from '../service/context.js';
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
import { EXTENSIONS } from './rendered-transcript.js';
import { transcribeFiles } from './transcribe-files.js';
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
}

export function addTranscribe(program: Command): void {
  program
    .command('transcribe')
    .argument(
      '<files...>',
      'WAV, FLAC, MP3 or OGG files; with ffmpeg WebM, MP4, M4A and other recordings and videos; - is standard input',
    )
    .option('--model <name>', 'an installed speech model (default: VERBATIM_MODEL)')
    .option('--language <xx>', 'spoken language (default: detected)')
    .option('--translate-to <xx>', 'print a translation into this language')
    .option('--no-punctuate', 'lower-case words without punctuation')
    .option('--diarize', 'identify speakers')
    .addOption(speakerCount('--num-speakers <n>', 'so many people speak (with --diarize)'))
    .addOption(speakerCount('--speakers <n>', 'the same under its older name'))
    .addOption(speakerCount('--min-speakers <n>', 'at least so many'))
    .addOption(speakerCount('--max-speakers <n>', 'at most so many'))
    .option('--prompt <text>', `names and words to expect, at most ${MOST_PROMPT_CHARACTERS} characters`)
    .addOption(
      new Option('--format <format>', 'what is written (default: text); srt and vtt are subtitles').choices(
        ANSWER_FORMATS,
      ),
    )
    .addOption(
      new Option('--timestamps <which>', 'in JSON, the times of segments, or of words, too').choices(TIMESTAMPS),
    )
    .option('--json', 'as --format json, with segments as they were decoded where --timestamps is not given')
    .option('--output <file>', 'write to this file')
    .option('--output-dir <dir>', 'write a file for each input into this directory; needed for several')
    .description('transcribe files on this machine, without a server')
    .action(transcribe);
}

function speakerCount(flags: string, description: string): Option {
  return new Option(flags, description).argParser(integerFrom(1, MOST_SPEAKERS));
}

async function transcribe(files: string[], flags: Flags): Promise<void> {
  const options = transcriptionOptions(flags);
  const { config, ...models } = readContext();
  const context = { ...models, config: { ...config, model: flags.model ?? config.model } };
  const { output: file, outputDir: directory } = flags;
  const outputs = outputsOf(files, { file, directory, extension: EXTENSIONS[options.format] });
  const batch = { options, outputs, showsDecoded: flags.json === true, writtenTo: placeOf(flags) };
  const failed = await untilInterrupted((signal) => transcribeFiles(batch, context, signal));
  if (failed > 0) process.exitCode = FAILED;
}

/** As the summary names it. */
function placeOf({ output, outputDir }: Flags): string | null {
  if (outputDir === undefined) return output ?? null;
  return outputDir.endsWith('/') ? outputDir : `${outputDir}/`;
}

/** Throws UsageError for what does not go together. */
function transcriptionOptions(flags: Flags): TranscriptionOptions {
  const { language = 'auto', translateTo, punctuate, diarize = false, json = false, prompt = null } = flags;
  if (json && flags.format !== undefined && flags.format !== 'json') {
    throw new UsageError(`--json cannot be used with --format ${flags.format}.`);
  }
  const format = json ? 'json' : (flags.format ?? 'text');
  if (flags.timestamps !== undefined && format !== 'json') {
    throw new UsageError('--timestamps acts only with --format json or --json.');
  }
  const characters = Array.from(prompt ?? '').length;
  if (characters > MOST_PROMPT_CHARACTERS) {
    throw new UsageError(`--prompt has ${characters} characters; allowed: at most ${MOST_PROMPT_CHARACTERS}.`);
  }
  return {
    language: language === 'auto' ? null : asLanguageCode('--language', language),
    translateTo: translateTo === undefined ? null : asLanguageCode('--translate-to', translateTo),
    ...{ punctuate, diarize, format, prompt },
    ...speakersOf(flags),
    timestamps: flags.timestamps ?? 'none',
    describe: false,
    temperature: 0,
  };
}

/** Throws UsageError for what does not go together. */
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
    if (count !== undefined && !diarize) throw new UsageError(`${option} acts only with --diarize.`);
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
