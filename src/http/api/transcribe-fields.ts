/** The text fields of POST /transcribe, checked and normalised. */
import { VerbatimError } from '../../errors.js';
import { normalizeLanguage } from '../../engine/languages.js';
import { invalid } from '../shape.js';
import { BOOLEANS, BOOLEAN_WORDS, DEFAULTS, TranscribeFields } from './transcribe-schema.js';
import type { TranscriptionOptions } from '../../transcription/transcription.js';

type TextField = keyof typeof TranscribeFields;
export const TEXT_FIELDS = Object.keys(TranscribeFields) as TextField[];

export function parseOptions(fields: ReadonlyMap<string, string>): TranscriptionOptions {
  return {
    punctuate: parseBoolean(fields, 'punctuate'),
    diarize: parseBoolean(fields, 'diarize'),
    language: parseLanguage(fields, 'language', 'unsupported_language'),
    translateTo: parseLanguage(fields, 'translate_to', 'unsupported_translation'),
  };
}

function parseBoolean(fields: ReadonlyMap<string, string>, name: keyof typeof DEFAULTS): boolean {
  const given = fields.get(name);
  if (given === undefined) return DEFAULTS[name];
  const word = BOOLEAN_WORDS.find((known) => known === given.toLowerCase());
  if (word !== undefined) return BOOLEANS[word];
  throw invalid(name, `${name} must be one of: ${BOOLEAN_WORDS.join(', ')}.`);
}

function parseLanguage(
  fields: ReadonlyMap<string, string>,
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
