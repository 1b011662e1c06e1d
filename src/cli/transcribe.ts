import type { Command } from 'commander';
import { ConfigError } from '../config.js';
import type { SpeechEngine, Transcript } from '../engine/types.js';
import { VerbatimError } from '../errors.js';
import { normalizeLanguage } from '../languages.js';
import { withoutPunctuation } from '../services/punctuation.js';
import { cliContext } from './context.js';
import { loadEngine } from './engine.js';

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
    .option('--translate-to <xx>', 'language to translate the transcript into')
    .option('--no-punctuate', 'lower-case words without punctuation')
    .option('--diarize', 'tell speakers apart')
    .option('--json', 'print JSON with segments and times')
    .description('transcribe a file on this machine, without a server')
    .action(transcribeFile);
}

async function transcribeFile(file: string, options: Options): Promise<void> {
  const { config, roots, manifest } = cliContext();
  if (options.diarize === true)
    throw new VerbatimError('unsupported_diarization', 'No diarization model is installed.');
  if (options.translateTo !== undefined) {
    throw new VerbatimError('unsupported_translation', 'No translation model is installed.');
  }
  const engine = await loadEngine(config, roots, manifest);
  try {
    const language = spokenLanguage(engine, options.language);
    const audio = await engine.open(file);
    const admission = engine.admit({ accountId: 'cli', audioSeconds: audio.durationSeconds });
    try {
      const transcript = await engine.transcribe({ audio, admission, language });
      print(transcript, audio.durationSeconds, options);
    } finally {
      admission.release();
      audio.close();
    }
  } finally {
    await engine.close();
  }
}

function spokenLanguage(engine: SpeechEngine, wanted: string | undefined): string {
  if (wanted === undefined || wanted === 'auto') return 'auto';
  const language = normalizeLanguage(wanted);
  if (language === null || !engine.languages.includes(language)) {
    throw new ConfigError('--language', wanted, engine.languages.join(', '));
  }
  return language;
}

function print(transcript: Transcript, durationSeconds: number, options: Options): void {
  const text = options.punctuate ? transcript.text : withoutPunctuation(transcript.text, transcript.language);
  if (options.json !== true) {
    console.log(text);
    return;
  }
  const answer = {
    duration_sec: durationSeconds,
    language: transcript.language,
    language_probability: transcript.languageProbability,
    text,
    segments: transcript.segments.map((segment) => ({
      start: segment.startSeconds,
      end: segment.endSeconds,
      text: segment.text,
    })),
    timings: transcript.timings,
  };
  console.log(JSON.stringify(answer, null, 2));
}
