import type { Command } from 'commander';
import { ConfigError } from '../service/config.js';
import type { SpeechEngine, Transcript } from '../engine/types.js';
import { VerbatimError } from '../errors.js';
import { normalizeLanguage } from '../engine/languages.js';
import { LanguageSupport } from '../transcription/language-support.js';
import { withoutPunctuation } from '../transcription/punctuation.js';
import { warningsOf, type Warning } from '../transcription/warnings.js';
import { readContext } from '../service/context.js';
import { loadEngine } from '../service/speech-engine.js';
import { languageOption } from './options.js';
import { createTranslationEngine } from '../service/translation-engine.js';

const ACCOUNT = 'cli';

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
  const { config, roots, manifest } = readContext();
  if (options.diarize === true)
    throw new VerbatimError('unsupported_diarization', 'No diarization model is installed.');
  const to = options.translateTo === undefined ? null : languageOption('--translate-to', options.translateTo);
  const engine = await loadEngine(config, roots, manifest);
  const translator = createTranslationEngine(config, roots, manifest);
  const support = new LanguageSupport(engine, translator);
  try {
    const language = spokenLanguage(engine, options.language);
    support.check({
      language: language === 'auto' ? null : language,
      translateTo: to,
      punctuate: options.punctuate,
      diarize: false,
    });
    const transcript = await engine.transcribeFile({ path: file, accountId: ACCOUNT, language });
    const translation =
      to === null ? null : { language: to, text: await translate(engine, support, file, transcript, to) };
    print(transcript, translation, warningsOf(transcript, engine), options);
  } finally {
    await engine.close();
    await translator.close();
  }
}

async function translate(
  engine: SpeechEngine,
  support: LanguageSupport,
  file: string,
  transcript: Transcript,
  to: string,
): Promise<string> {
  const { language } = transcript;
  if (to === language) return transcript.text;
  const translator = support.translatorFor(language, to);
  if (translator === 'speech model') {
    const pass = { path: file, accountId: ACCOUNT, language, task: 'translate', after: transcript } as const;
    return (await engine.transcribeFile(pass)).text;
  }
  const { signal } = new AbortController();
  return translator.translate({ accountId: ACCOUNT, transcript, to, signal });
}

function spokenLanguage(engine: SpeechEngine, wanted: string | undefined): string {
  if (wanted === undefined || wanted === 'auto') return 'auto';
  const language = normalizeLanguage(wanted);
  if (language === null || !engine.languages.includes(language)) {
    throw new ConfigError('--language', wanted, engine.languages.join(', '));
  }
  return language;
}

function print(
  transcript: Transcript,
  translation: { language: string; text: string } | null,
  warnings: readonly Warning[],
  options: Options,
): void {
  const plain = (text: string, language: string): string =>
    options.punctuate ? text : withoutPunctuation(text, language);
  const text = plain(transcript.text, transcript.language);
  const translated = translation && plain(translation.text, translation.language);
  if (options.json !== true) {
    for (const { message } of warnings) console.error(message);
    console.log(translated ?? text);
    return;
  }
  const answer = {
    duration_sec: transcript.durationSeconds,
    language: transcript.language,
    language_probability: transcript.languageProbability,
    text,
    ...(translation === null ? {} : { translation: { language: translation.language, text: translated } }),
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
