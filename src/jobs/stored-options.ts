import type { JsonValue } from '../ledger/json.js';
import type { KeepOrder } from '../transcription/keep.js';
import { ANY_SPEAKERS, type TranscriptionOptions } from '../transcription/options.js';

/** The values of options that did not exist when the job was made. */
const ABSENT: TranscriptionOptions = Object.freeze({
  model: null,
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

export interface StoredFile {
  /** Of the file that the client sent. */
  sha256: string;
  /** Of the file that is kept. */
  bytes: number;
}

/** As the ledger keeps them. */
export function storedOptions(
  options: TranscriptionOptions,
  { sha256, bytes }: StoredFile,
  keep: KeepOrder | null = null,
): JsonValue {
  return { ...options, sha256, bytes, ...(keep === null ? {} : { keep: { ...keep, source: { ...keep.source } } }) };
}

export function optionsOf(stored: JsonValue): TranscriptionOptions {
  const options: TranscriptionOptions = { ...ABSENT, ...(stored as Partial<TranscriptionOptions>) };
  for (const name of ['sha256', 'bytes', 'keep']) Reflect.deleteProperty(options, name);
  return options;
}

/** Undefined for a job that was made before it was kept. */
export function sha256Of(stored: JsonValue): string | undefined {
  return (stored as { sha256?: string }).sha256;
}

/** 0 for a job that was made before it was kept. */
export function bytesOf(stored: JsonValue): number {
  return (stored as { bytes?: number }).bytes ?? 0;
}

/** null: its transcript is not kept. */
export function keepOf(stored: JsonValue): KeepOrder | null {
  return (stored as { keep?: KeepOrder }).keep ?? null;
}
