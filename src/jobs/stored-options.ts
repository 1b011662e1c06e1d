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

/** As the ledger keeps them. */
export function storedOptions(options: TranscriptionOptions): JsonValue {
  return { ...options };
}

export function optionsOf(stored: JsonValue): TranscriptionOptions {
  return { ...ABSENT, ...(stored as Partial<TranscriptionOptions>) };
}
