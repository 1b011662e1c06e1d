/** The query of POST /v1/listen: what a client chooses for a whole file. */
import type { Request } from 'express';
import type { EngineInfo } from '../../engine/types.js';
import type { SpeechModelDirectory } from '../../transcription/engine-lease.js';
import { ANY_SPEAKERS, type TranscriptionOptions } from '../../transcription/options.js';
import { invalid } from '../schema/shape.js';
import { flag, isOff, languageOf, listenModelName, listenModel } from './query.js';

export interface FileQuery {
  options: TranscriptionOptions;
  /** Whether the answer has the language that was detected. */
  detectsLanguage: boolean;
  /** Whether words carry their language. */
  namesLanguages: boolean;
  /** Silence in seconds that parts two utterances; null: the answer has no utterances. */
  utteranceGap: number | null;
  paragraphs: boolean;
  /** Whether the transcript is kept; null: as the account is set. */
  keep: boolean | null;
  /** Parameters that were understood, and do nothing. */
  ignored: string[];
}

const DEFAULT_GAP_SECONDS = 0.8;

export const FILE_PARAMETERS = [
  ...(['model', 'language', 'detect_language', 'punctuate', 'smart_format', 'diarize'] as const),
  ...(['utterances', 'utt_split', 'paragraphs', 'keep'] as const),
];
const IGNORED = ['filler_words', 'extra', 'profanity_filter', 'tag', 'mip_opt_out', 'version'];
/** What this server does not do; refused unless it is off. */
const REFUSED = [
  ...['numerals', 'redact', 'search', 'replace', 'detect_entities', 'dictation', 'callback', 'callback_method'],
  ...['multichannel', 'keyterm', 'keywords', 'measurements', 'diarize_model', 'diarize_version', 'encoding'],
  ...['summarize', 'topics', 'sentiment', 'intents', 'custom_intent', 'custom_intent_mode'],
  ...['custom_topic', 'custom_topic_mode'],
];

/** Throws VerbatimError that names the parameter; a model that is not installed is let through. */
export function fileQuery(query: URLSearchParams, speechModels: SpeechModelDirectory): FileQuery {
  refuseUnserved(query);
  const smartFormat = flag(query, 'smart_format', false);
  const paragraphs = flag(query, 'paragraphs', false) || smartFormat;
  const detectsLanguage = flag(query, 'detect_language', false);
  const { language, detectsEach } = languageOf(detectsLanguage ? 'multi' : query.get('language'));
  const model = listenModelName(query.get('model'), speechModels);
  const { alignsWords } = infoOf(model, speechModels);
  const gapSeconds = gapOf(query);
  return {
    options: {
      ...{ model, language, translateTo: null, prompt: null, describe: false, temperature: 0 },
      punctuate: flag(query, 'punctuate', false) || paragraphs,
      diarize: flag(query, 'diarize', false),
      ...ANY_SPEAKERS,
      timestamps: alignsWords ? 'word' : 'segment',
      format: 'json',
    },
    detectsLanguage,
    namesLanguages: detectsEach && !detectsLanguage,
    utteranceGap: flag(query, 'utterances', false) ? gapSeconds : null,
    paragraphs,
    keep: query.has('keep') ? flag(query, 'keep', false) : null,
    ignored: IGNORED.filter((name) => query.has(name)),
  };
}

/** Throws `unsupported_model`. */
export function checkListenModel(query: URLSearchParams, speechModels: SpeechModelDirectory): void {
  listenModel(query.get('model'), speechModels);
}

export function queryOf({ originalUrl }: Pick<Request, 'originalUrl'>): URLSearchParams {
  const at = originalUrl.indexOf('?');
  return new URLSearchParams(at === -1 ? '' : originalUrl.slice(at));
}

function refuseUnserved(query: URLSearchParams): void {
  const names = [...FILE_PARAMETERS, ...IGNORED];
  for (const [name, value] of query) {
    if (REFUSED.includes(name)) {
      if (isOff(value)) continue;
      throw invalid(name, `${name} is not supported by this server; leave it out.`);
    }
    if (!names.includes(name)) {
      throw invalid(name, `Unknown parameter "${name.slice(0, 100)}"; allowed: ${names.join(', ')}.`);
    }
  }
  for (const name of FILE_PARAMETERS) {
    if (query.getAll(name).length > 1) throw invalid(name, `${name} was sent more than once.`);
  }
}

function infoOf(model: string | null, speechModels: SpeechModelDirectory): Pick<EngineInfo, 'alignsWords'> {
  const [first] = speechModels.list();
  return ((model === null ? null : speechModels.find(model)) ?? first).info;
}

function gapOf(query: URLSearchParams): number {
  const text = query.get('utt_split');
  if (text === null || text === '') return DEFAULT_GAP_SECONDS;
  const seconds = /^\d{1,3}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= 60) return seconds;
  throw invalid('utt_split', 'utt_split must be seconds above 0 and at most 60.');
}
