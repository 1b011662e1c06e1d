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
      'WAV, FLAC, MP3 or OGG files; with ffmpeg WebM, MP4, M4A and other recordings and videos',
    )
    .option('--language <xx>', 'spoken language (default: detected)')
    .option('--translate-to <xx>', 'print a translation into this language')
    .option('--no-punctuate', 'lower-case words without punctuation')
    .option('--diarize', 'tell who speaks')
    .addOption(speakerCount('--speakers <n>', 'so many people speak (with --diarize)'))
    .addOption(speakerCount('--min-speakers <n>', 'at least so many'))
    .addOption(speakerCount('--max-speakers <n>', 'at most so many'))
    .option('--prompt <text>', `names and words to expect, at most ${MOST_PROMPT_CHARACTERS} characters`)
    .addOption(
      new Option('--format <format>', 'what is written (default: text); srt and vtt are subtitles').choices(
        ANSWER_FORMATS,
      ),
    )
    .addOption(
      new Option('--timestamps <which>', 'in JSON, the times of segments, or of words, too').choices(
        TIMESTAMPS,
      ),
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
  const context = readContext();
  const { output: file, outputDir: directory } = flags;
  const outputs = outputsOf(files, { file, directory, extension: EXTENSIONS[options.format] });
  const batch = { options, outputs, showsDecoded: flags.json === true };
  const failed = await untilInterrupted((signal) => transcribeFiles(batch, context, signal));
  if (failed > 0) process.exitCode = FAILED;
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
    throw new UsageError(
      `--prompt has ${characters} characters; allowed: at most ${MOST_PROMPT_CHARACTERS}.`,
    );
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
  speakers,
  minSpeakers,
  maxSpeakers,
}: Flags): Pick<TranscriptionOptions, 'minSpeakers' | 'maxSpeakers'> {
  const counts = { '--speakers': speakers, '--min-speakers': minSpeakers, '--max-speakers': maxSpeakers };
  for (const [option, count] of Object.entries(counts)) {
    if (count !== undefined && !diarize) throw new UsageError(`${option} acts only with --diarize.`);
  }
  const least = minSpeakers ?? speakers ?? ANY_SPEAKERS.minSpeakers;
  const most = maxSpeakers ?? speakers ?? ANY_SPEAKERS.maxSpeakers;
  if (speakers !== undefined && (minSpeakers ?? maxSpeakers) !== undefined) {
    throw new UsageError('--speakers cannot be used with --min-speakers or --max-speakers.');
  }
  if (least <= most) return { minSpeakers: least, maxSpeakers: most };
  throw new UsageError(`--min-speakers is ${least}, which is more than --max-speakers, ${most}.`);
}
