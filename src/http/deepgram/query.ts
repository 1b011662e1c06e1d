/** The query of /v1/listen: what a client chooses, in Deepgram's names. */
import { normalizeLanguage } from '../../engine/languages.js';
import { VerbatimError } from '../../errors.js';
import { DEFAULT_SETTINGS, type EncodedFormat, type LiveFormat, type LiveSettings } from '../../live/options.js';
import type { SpeechModelDirectory } from '../../transcription/engine-lease.js';
import { invalid } from '../schema/shape.js';

export interface ListenOptions {
  /** null: the default model. */
  model: string | null;
  format: LiveFormat | EncodedFormat;
  /** As the client says; those of a stream in a container are not known. */
  channels: number;
  settings: LiveSettings;
  interimResults: boolean;
  /** Silence after a word that is reported as the end of the utterance; null: it is not. */
  utteranceEndMs: number | null;
  vadEvents: boolean;
  punctuate: boolean;
  /** Parameters that were understood, and do nothing. */
  ignored: string[];
}

/** Of samples. */
const ENCODINGS = { linear16: 's16le', linear32: 'f32le', mulaw: 'mulaw', alaw: 'alaw' } as const;
/** In a container, which its content decides. */
const CONTAINED = ['', 'flac', 'ogg-opus'];
/** Of Opus packets whose source nobody names, Hz. */
const OPUS_RATE = 48_000;
/** Deepgram's own models: whatever a client was made for, it gets the default model. */
const DEEPGRAM_NAME = /^(nova|enhanced|base)/i;
const DEFAULT_LANGUAGE = 'en';
const DEFAULT_ENDPOINTING_MS = 10;
/** Of text that is final while the utterance goes on: where interim results are on, it costs no decoding more. */
const STABLE_SECONDS = 2;

/** Parameters without effect, which clients send by default. */
const IGNORED = ['no_delay', 'filler_words', 'extra', 'profanity_filter', 'tag', 'mip_opt_out', 'version'];
/** What this server does not do; refused unless it is off. */
const REFUSED = [
  ...([
    'numerals',
    'redact',
    'search',
    'replace',
    'detect_entities',
    'dictation',
    'callback',
    'callback_method',
  ] as const),
  ...(['multichannel', 'keyterm', 'keywords', 'detect_language', 'paragraphs', 'utterances'] as const),
  ...(['summarize', 'topics', 'sentiment', 'intents', 'custom_intent', 'custom_topic', 'measurements'] as const),
];
const KNOWN = [
  ...(['model', 'language', 'encoding', 'sample_rate', 'channels', 'interim_results', 'endpointing'] as const),
  ...(['utterance_end_ms', 'vad_events', 'punctuate', 'smart_format', 'diarize', 'keep'] as const),
];

/** Throws VerbatimError that names the parameter. */
export function listenOptions(query: URLSearchParams, speechModels: SpeechModelDirectory): ListenOptions {
  refuseUnserved(query);
  const interimResults = flag(query, 'interim_results', false);
  const vadEvents = flag(query, 'vad_events', false);
  const diarize = !isOff(query.get('diarize') ?? '') && flag(query, 'diarize', false);
  return {
    model: listenModel(query.get('model'), speechModels),
    format: formatOf(query),
    channels: channelsOf(query),
    settings: {
      ...DEFAULT_SETTINGS,
      ...languageOf(query.get('language')),
      turns: turnsOf(query.get('endpointing'), vadEvents),
      interim: interimResults,
      words: true,
      diarize,
      // Its decodings are there; but who speaks is found for a whole stretch only.
      stableSeconds: interimResults && !diarize ? STABLE_SECONDS : null,
    },
    interimResults,
    utteranceEndMs: utteranceEndOf(query, interimResults),
    vadEvents,
    // Its formatting of numbers is not done; what it implies is.
    punctuate: flag(query, 'punctuate', false) || flag(query, 'smart_format', false),
    ignored: IGNORED.filter((name) => query.has(name)),
  };
}

function refuseUnserved(query: URLSearchParams): void {
  for (const [name, value] of query) {
    if (REFUSED.includes(name as never) && !isOff(value)) {
      throw invalid(name, `${name} is not supported by this server; leave it out.`);
    }
    if (![...KNOWN, ...IGNORED, ...REFUSED].includes(name)) {
      throw invalid(name, `Unknown parameter "${name.slice(0, 100)}"; allowed: ${[...KNOWN, ...IGNORED].join(', ')}.`);
    }
  }
}

export function isOff(value: string): boolean {
  return value === '' || value.toLowerCase() === 'false';
}

/** null: the default model. A name that is not installed is let through, unless it is one of Deepgram's. */
export function listenModelName(name: string | null, speechModels: SpeechModelDirectory): string | null {
  if (name === null || name === '') return null;
  return DEEPGRAM_NAME.test(name) && speechModels.find(name) === null ? null : name;
}

/** The same. Throws `unsupported_model`. */
export function listenModel(given: string | null, speechModels: SpeechModelDirectory): string | null {
  const name = listenModelName(given, speechModels);
  if (name === null || speechModels.find(name) !== null) return name;
  const names = speechModels.list().map(({ info }) => info.modelName);
  const message = `There is no speech model "${name.slice(0, 100)}"; installed: ${names.join(', ')}.`;
  throw new VerbatimError('unsupported_model', message, { param: 'model' });
}

function formatOf(query: URLSearchParams): LiveFormat | EncodedFormat {
  const encoding = query.get('encoding') ?? '';
  if (isEncoding(encoding)) {
    const sampleRate = sampleRateOf(query, null);
    return { encoding: ENCODINGS[encoding], sampleRate, channels: channelsOf(query) };
  }
  if (encoding === 'opus') return { encoding, sampleRate: sampleRateOf(query, OPUS_RATE) };
  if (CONTAINED.includes(encoding)) return { encoding: 'container', sampleRate: sampleRateOf(query, OPUS_RATE) };
  const names = [...Object.keys(ENCODINGS), 'opus', 'ogg-opus', 'flac'];
  throw invalid('encoding', `encoding must be one of: ${names.join(', ')}; absent: a container.`);
}

function sampleRateOf(query: URLSearchParams, absent: number | null): number {
  return integer(query, 'sample_rate', absent, 8000, 48_000);
}

function channelsOf(query: URLSearchParams): number {
  return integer(query, 'channels', 1, 1, 8);
}

function isEncoding(name: string): name is keyof typeof ENCODINGS {
  return Object.hasOwn(ENCODINGS, name);
}

/** 'multi': each utterance by itself. Throws `unsupported_language`. */
export function languageOf(language: string | null): Pick<LiveSettings, 'language' | 'detectsEach'> {
  if (language === 'multi') return { language: null, detectsEach: true };
  const code = normalizeLanguage(language ?? DEFAULT_LANGUAGE);
  if (code !== null) return { language: code, detectsEach: false };
  const message = `"${language?.slice(0, 100) ?? ''}" is not an ISO 639 language code that the service knows.`;
  throw new VerbatimError('unsupported_language', message, { param: 'language' });
}

/** Without endpointing speech is looked for only where its start is to be reported. */
function turnsOf(endpointing: string | null, vadEvents: boolean): LiveSettings['turns'] {
  if (endpointing?.toLowerCase() === 'false') return { kind: 'manual', findsSpeech: vadEvents };
  const text = endpointing === null || endpointing.toLowerCase() === 'true' ? `${DEFAULT_ENDPOINTING_MS}` : endpointing;
  if (!/^\d{1,5}$/.test(text))
    throw invalid('endpointing', 'endpointing must be milliseconds from 0 to 60000, or false.');
  const silenceMs = Math.min(60_000, Number(text));
  return { kind: 'silence', threshold: 0.5, prefixPaddingMs: 300, silenceMs };
}

function utteranceEndOf(query: URLSearchParams, interimResults: boolean): number | null {
  if (!query.has('utterance_end_ms')) return null;
  if (!interimResults) throw invalid('utterance_end_ms', 'utterance_end_ms needs interim_results=true.');
  return integer(query, 'utterance_end_ms', null, 1000, 5000);
}

function integer(query: URLSearchParams, name: string, absent: number | null, least: number, most: number): number {
  const text = query.get(name);
  const value = text === null ? absent : /^\d{1,6}$/.test(text) ? Number(text) : NaN;
  if (value !== null && value >= least && value <= most) return value;
  throw invalid(name, `${name} must be an integer from ${least} to ${most}.`);
}

export function flag(query: URLSearchParams, name: string, absent: boolean): boolean {
  const value = query.get(name)?.toLowerCase();
  if (value === undefined) return absent;
  if (value === 'true' || value === 'false') return value === 'true';
  throw invalid(name, `${name} must be true or false.`);
}
