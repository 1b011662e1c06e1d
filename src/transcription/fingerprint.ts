import { createHash } from 'node:crypto';
import type { JsonValue } from '../ledger/json.js';
import { ANY_SPEAKERS, type TranscriptionOptions } from './options.js';

export interface FingerprintedRequest {
  endpoint: string;
  audio: { sha256: string };
  options: TranscriptionOptions;
  /** Whether the transcript is to be kept; null or absent: the request does not say. */
  keepAsked?: boolean | null;
}

/**
 * Two requests are the same when their normalised fields and the audio's bytes are. Fields that came later count only
 * where they ask for something: answers that are stored already keep their fingerprints.
 */
export function fingerprint({ endpoint, options, audio, keepAsked = null }: FingerprintedRequest): string {
  const { language, translateTo, punctuate, diarize, timestamps, format, prompt } = options;
  const { describe, temperature, minSpeakers, maxSpeakers, model } = options;
  const first = [endpoint, language, translateTo, punctuate, diarize, audio.sha256];
  const later = {
    ...(timestamps === 'none' ? {} : { timestamps }),
    ...(format === 'json' ? {} : { format }),
    ...(prompt === null ? {} : { prompt }),
    ...(describe ? { describe } : {}),
    ...(temperature === 0 ? {} : { temperature }),
    ...(minSpeakers === ANY_SPEAKERS.minSpeakers ? {} : { minSpeakers }),
    ...(maxSpeakers === ANY_SPEAKERS.maxSpeakers ? {} : { maxSpeakers }),
    ...(model === null ? {} : { model }),
    ...(keepAsked === null ? {} : { keep: keepAsked }),
  };
  const asked = Object.keys(later).length === 0 ? first : [...first, later];
  return digestOfRequest(asked);
}

/** What is stored of a request to know it again; the same for the same JSON. */
export function digestOfRequest(asked: readonly JsonValue[]): string {
  return createHash('sha256').update(JSON.stringify(asked)).digest('hex');
}
