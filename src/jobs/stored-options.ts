import type { JsonValue } from '../ledger/types.js';
import { ANY_SPEAKERS, type TranscriptionOptions } from '../transcription/options.js';

/** What a job says of options that were not known when it was made. */
const ABSENT: TranscriptionOptions = Object.freeze({
  language: null,
  translateTo: null,
  punctuate: true,
  diarize: false,
  ...ANY_SPEAKERS,
  timestamps: 'none',
  format: 'json',
  prompt: null,
  describe: false,
  temperature: 0,
});

/** As the ledger keeps them, with the SHA-256 of the file that the client sent. */
export function storedOptions(options: TranscriptionOptions, sha256: string): JsonValue {
  return { ...options, sha256 };
}

export function optionsOf(stored: JsonValue): TranscriptionOptions {
  const options: TranscriptionOptions = { ...ABSENT, ...(stored as Partial<TranscriptionOptions>) };
  Reflect.deleteProperty(options, 'sha256');
  return options;
}

/** Undefined for a job that was made before it was kept. */
export function sha256Of(stored: JsonValue): string | undefined {
  return (stored as { sha256?: string }).sha256;
}
