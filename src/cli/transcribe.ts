import { closeSync, fstatSync, openSync } from 'node:fs';
import type { Command } from 'commander';
import { readContext } from '../service/context.js';
import { transcribeLocally, type LocalTranscription } from '../service/local-transcription.js';
import { asLanguageCode } from './options.js';
import { FileError } from './words.js';

interface Options {
  language?: string;
  translateTo?: string;
  punctuate: boolean;
  diarize?: boolean;
  json?: boolean;
}

export function addTranscribe(program: Command): void {
  program
    .command('transcribe')
    .argument('<file>', 'a WAV, FLAC, MP3 or OGG file')
    .option('--language <xx>', 'spoken language (default: detected)')
    .option('--translate-to <xx>', 'print a translation into this language')
    .option('--no-punctuate', 'lower-case words without punctuation')
    .option('--diarize', 'tell speakers apart')
    .option('--json', 'print JSON with segments and times')
    .description('transcribe a file on this machine, without a server')
    .action(transcribe);
}

async function transcribe(file: string, options: Options): Promise<void> {
  const { language = 'auto', translateTo, punctuate, diarize = false } = options;
  const wanted = {
    language: language === 'auto' ? null : asLanguageCode('--language', language),
    translateTo: translateTo === undefined ? null : asLanguageCode('--translate-to', translateTo),
    punctuate,
    diarize,
    timestamps: 'none',
    format: 'json',
    prompt: null,
  } as const;
  const context = readContext();
  checkReadable(file);
  const result = await transcribeLocally(file, wanted, context).catch((error: unknown) => {
    throw new FileError(file, error);
  });
  print(result, options.json === true);
}

/** Before a model is loaded, which may take a while. */
function checkReadable(path: string): void {
  try {
    const file = openSync(path, 'r');
    const isDirectory = fstatSync(file).isDirectory();
    closeSync(file);
    if (isDirectory) throw Object.assign(new Error('is a directory'), { code: 'EISDIR' });
  } catch (error) {
    throw new FileError(path, error);
  }
}

function print({ transcript, translation, warnings }: LocalTranscription, json: boolean): void {
  if (!json) {
    for (const { message } of warnings) console.error(message);
    console.log((translation ?? transcript).text);
    return;
  }
  const answer = {
    duration_sec: transcript.durationSeconds,
    language: transcript.language,
    language_probability: transcript.languageProbability,
    text: transcript.text,
    ...(translation === null ? {} : { translation }),
    ...(warnings.length === 0 ? {} : { warnings }),
    segments: transcript.segments.map((segment) => ({
      start: segment.startSeconds,
      end: segment.endSeconds,
      text: segment.text,
    })),
    timings: transcript.timings,
  };
  console.log(JSON.stringify(answer, null, 2));
}
