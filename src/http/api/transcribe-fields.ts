/** The text fields and headers of POST /transcribe, checked and normalised. */
import { VerbatimError } from '../../errors.js';
import { normalizeLanguage } from '../../engine/languages.js';
import type { TranscriptionOptions } from '../../transcription/transcription.js';

export const TEXT_FIELDS = ['translate_to', 'language', 'punctuate', 'diarize'] as const;
type TextField = (typeof TEXT_FIELDS)[number];

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['off', false],
]);

export function parseOptions(fields: ReadonlyMap<string, string>): TranscriptionOptions {
  return {
    punctuate: parseBoolean(fields, 'punctuate', true),
    diarize: parseBoolean(fields, 'diarize', false),
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

function parseBoolean(fields: ReadonlyMap<string, string>, name: TextField, fallback: boolean): boolean {
  const given = fields.get(name);
  if (given === undefined) return fallback;
  const value = BOOLEANS.get(given.toLowerCase());
  if (value !== undefined) return value;
  const allowed = [...BOOLEANS.keys()].join(', ');
  throw new VerbatimError('invalid_request', `${name} must be one of: ${allowed}.`, { param: name });
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
