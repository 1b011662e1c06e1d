/** The text fields and headers of POST /transcribe, checked and normalised. */
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

/** 1 to 255 printable ASCII characters; null when the header is absent. */
export function parseIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const key = typeof header === 'string' ? header : header.join(', ');
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw new VerbatimError('invalid_request', 'Idempotency-Key must have 1 to 255 printable characters.', {
    param: 'Idempotency-Key',
  });
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
