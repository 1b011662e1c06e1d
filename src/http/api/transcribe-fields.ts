/** The text fields of POST /transcribe, checked and normalised. */
import { VerbatimError } from '../../errors.js';
import { normalizeLanguage } from '../../engine/languages.js';
import { invalid } from '../shape.js';
import { BOOLEANS, BOOLEAN_WORDS, DEFAULTS, TranscribeFields } from './transcribe-schema.js';
import {
  ANSWER_FORMATS,
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
  return {
    punctuate: BOOLEANS[parseWord(fields, 'punctuate', BOOLEAN_WORDS)],
    diarize: BOOLEANS[parseWord(fields, 'diarize', BOOLEAN_WORDS)],
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
