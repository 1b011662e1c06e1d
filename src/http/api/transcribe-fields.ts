/** The text fields of POST /transcribe, checked and normalised. */
import { VerbatimError } from '../../errors.js';
import { normalizeLanguage } from '../../engine/languages.js';
import { MOST_SPEAKERS } from '../../engine/speakers/speaker-engine.js';
import { invalid } from '../schema/shape.js';
import { BOOLEANS, BOOLEAN_WORDS, DEFAULTS, SPEAKER_COUNTS, TranscribeFields } from './transcribe-schema.js';
import {
  ANSWER_FORMATS,
  ANY_SPEAKERS,
  MOST_PROMPT_CHARACTERS,
  TIMESTAMPS,
  type TranscriptionOptions,
} from '../../transcription/options.js';

type TextField = keyof typeof TranscribeFields;
type Fields = ReadonlyMap<string, string>;

/** Of fields that say nothing else. */
const MOST_FIELD_CHARACTERS = 1024;

/** Of each the most characters. */
export const TEXT_FIELDS: ReadonlyMap<string, number> = new Map(
  Object.keys(TranscribeFields).map((name) => [
    name,
    name === 'prompt' ? MOST_PROMPT_CHARACTERS : MOST_FIELD_CHARACTERS,
  ]),
);

export function parseOptions(fields: Fields): TranscriptionOptions {
  const diarize = BOOLEANS[parseWord(fields, 'diarize', BOOLEAN_WORDS)];
  return {
    model: fields.get('model')?.trim() || null,
    punctuate: BOOLEANS[parseWord(fields, 'punctuate', BOOLEAN_WORDS)],
    diarize,
    ...parseSpeakers(fields, diarize),
    language: parseLanguage(fields, 'language', 'unsupported_language'),
    translateTo: parseLanguage(fields, 'translate_to', 'unsupported_translation'),
    timestamps: parseWord(fields, 'timestamps', TIMESTAMPS),
    format: parseWord(fields, 'format', ANSWER_FORMATS),
    // Nothing but white space asks for nothing.
    prompt: fields.get('prompt')?.trim() || null,
    describe: false,
    temperature: 0,
  };
}

/** null: the request says nothing about it. */
export function parseKeep(fields: Fields): boolean | null {
  // An empty field asks for nothing.
  const given = fields.get('keep')?.toLowerCase() || null;
  if (given === null) return null;
  const word = BOOLEAN_WORDS.find((known) => known === given);
  if (word !== undefined) return BOOLEANS[word];
  throw invalid('keep', `keep must be one of: ${BOOLEAN_WORDS.join(', ')}.`);
}

/** How many people speak. */
function parseSpeakers(fields: Fields, diarize: boolean): Pick<TranscriptionOptions, 'minSpeakers' | 'maxSpeakers'> {
  const given = SPEAKER_COUNTS.find((name) => fields.has(name));
  if (given !== undefined && !diarize) throw invalid(given, `${given} needs diarize=true.`);
  const exact = parseCount(fields, 'num_speakers');
  const least = parseCount(fields, 'min_speakers');
  const most = parseCount(fields, 'max_speakers');
  if (exact !== undefined) {
    if ((least ?? most) === undefined) return { minSpeakers: exact, maxSpeakers: exact };
    throw invalid('num_speakers', 'num_speakers cannot be sent with min_speakers or max_speakers.');
  }
  const { minSpeakers, maxSpeakers } = {
    minSpeakers: least ?? ANY_SPEAKERS.minSpeakers,
    maxSpeakers: most ?? ANY_SPEAKERS.maxSpeakers,
  };
  if (minSpeakers <= maxSpeakers) return { minSpeakers, maxSpeakers };
  throw invalid('min_speakers', `min_speakers is ${minSpeakers}, which is more than max_speakers, ${maxSpeakers}.`);
}

function parseCount(fields: Fields, name: (typeof SPEAKER_COUNTS)[number]): number | undefined {
  const given = fields.get(name);
  if (given === undefined) return undefined;
  const count = Number(given);
  if (/^\d{1,9}$/.test(given) && count >= 1 && count <= MOST_SPEAKERS) return count;
  throw invalid(name, `${name} must be an integer from 1 to ${MOST_SPEAKERS}.`);
}

function parseWord<T extends string>(fields: Fields, name: keyof typeof DEFAULTS, allowed: readonly T[]): T {
  const given = (fields.get(name) ?? DEFAULTS[name]).toLowerCase();
  const word = allowed.find((known) => known === given);
  if (word !== undefined) return word;
  throw invalid(name, `${name} must be one of: ${allowed.join(', ')}.`);
}

function parseLanguage(
  fields: Fields,
  name: TextField,
  code: 'unsupported_language' | 'unsupported_translation',
): string | null {
  const given = fields.get(name);
  if (given === undefined) return null;
  const language = normalizeLanguage(given);
  if (language !== null) return language;
  const message = `"${given}" is not an ISO 639 language code that the service knows.`;
  throw new VerbatimError(code, message, { param: name });
}
