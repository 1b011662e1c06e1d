/** Transcripts as they are stored. */
import { VerbatimError } from '../../errors.js';
import type { JsonValue } from '../json.js';
import { DAY_MS, parseIso, toIso, toIsoOrNull } from '../time.js';
import type {
  LibrarySettings,
  NewTranscript,
  StoredTranscript,
  TranscriptChange,
  TranscriptQuery,
  TranscriptShare,
  TranscriptSource,
  TranscriptUpdate,
} from '../transcripts.js';

export interface TranscriptRow {
  place: number;
  id: string;
  account_id: string;
  version: number;
  title: string;
  created_at: number;
  expires_at: number | null;
  duration_seconds: number;
  language: string;
  translation_language: string | null;
  speakers: string;
  model: string | null;
  source: TranscriptSource;
  source_name: string | null;
  audio_bytes: number;
  content_bytes: number;
}

/** Of a TranscriptRow, from a table that is called so: the texts are long, and read apart. */
export const TRANSCRIPT_COLUMNS = [
  ...['place', 'id', 'account_id', 'version', 'title', 'created_at', 'expires_at', 'duration_seconds', 'language'],
  ...['translation_language', 'speakers', 'model', 'source', 'source_name', 'audio_bytes', 'content_bytes'],
]
  .map((column) => `transcripts.${column}`)
  .join(', ');

/** Of a deletion of many, so that no transaction takes long. */
export const DELETE_AT_ONCE = 50;

const MOST_DAYS = 3650;
const DEFAULT_DAYS = 30;

export function toTranscript(row: TranscriptRow): StoredTranscript {
  const { id, version, title, language, model, source, source_name: name } = row;
  return {
    ...{ id, accountId: row.account_id, version, title, language, model, source: { kind: source, name } },
    createdAt: toIso(row.created_at),
    expiresAt: toIsoOrNull(row.expires_at),
    durationSeconds: row.duration_seconds,
    translationLanguage: row.translation_language,
    speakers: JSON.parse(row.speakers) as string[],
    audioBytes: row.audio_bytes,
    contentBytes: row.content_bytes,
    place: String(row.place),
  };
}

/** A new one, kept now; `text` is its content. */
export function toRow(transcript: NewTranscript, { now, text }: { now: number; text: string }): TranscriptRow {
  const { id, accountId, title, keepDays, durationSeconds, language, translationLanguage, source } = transcript;
  return {
    ...{ place: 0, id, account_id: accountId, version: 1, title, created_at: now, language, model: transcript.model },
    expires_at: keepDays === null ? null : now + checkedDays(keepDays) * DAY_MS,
    duration_seconds: durationSeconds,
    translation_language: translationLanguage,
    speakers: JSON.stringify(transcript.speakers),
    ...{ source: source.kind, source_name: source.name, audio_bytes: transcript.audioBytes },
    content_bytes: utf8Bytes(title) + utf8Bytes(text),
  };
}

/**
 * The next version of a row, as an update makes it, and the bytes that it adds to its account's. `text`: the new
 * content; `replaced`: bytes of the one that it takes the place of, none of an original, which stays.
 */
export function nextVersion(
  row: TranscriptRow,
  { title = row.title, speakers, text: given }: TranscriptUpdate,
  { text, replaced, change }: { text: string | null; replaced: number; change: string },
): { next: TranscriptRow; bytes: number } {
  const ofText = text === null ? 0 : utf8Bytes(text) - replaced;
  const bytes = utf8Bytes(change) + utf8Bytes(title) - utf8Bytes(row.title) + ofText;
  const next = {
    ...{ ...row, title, version: row.version + 1, content_bytes: row.content_bytes + bytes },
    speakers: speakers === undefined ? row.speakers : JSON.stringify(speakers),
    translation_language: given === undefined ? row.translation_language : given.translationLanguage,
  };
  return { next, bytes };
}

export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/**
 * A transcript's place is its time in milliseconds and a number within it: a list by place is one by time, and a span
 * of time is one of places. It stays an exact integer until the year 2109.
 */
export const PLACES_A_MILLISECOND = 2048;

export function firstPlaceAt(milliseconds: number): number {
  return milliseconds * PLACES_A_MILLISECOND;
}

/** The first one that is free from `now` on. `newest`: the last one taken of those from `first` up to `last`. */
export function freePlace(now: number, newest: (first: number, last: number) => number | null): number {
  for (let first = firstPlaceAt(now); ; first += PLACES_A_MILLISECOND) {
    const last = first + PLACES_A_MILLISECOND - 1;
    const taken = newest(first, last);
    if (taken === null) return first;
    if (taken < last) return taken + 1;
  }
}

/** The places that a list may have: from `first` on, and before `end`. Throws `invalid_request`. */
export function spanOf({ from = null, to = null, after }: TranscriptQuery): { first: number; end: number } {
  const end = to === null ? Number.MAX_SAFE_INTEGER : firstPlaceAt(timeOf(to, 'to'));
  const last = after === null ? Number.MAX_SAFE_INTEGER : placeOf(after);
  return { first: from === null ? 0 : firstPlaceAt(timeOf(from, 'from')), end: Math.min(end, last) };
}

function placeOf(cursor: string): number {
  const place = /^\d{1,16}$/.test(cursor) ? Number(cursor) : NaN;
  if (Number.isSafeInteger(place)) return place;
  const message = 'The cursor is not one that a list returned; leave it out for the first page.';
  throw new VerbatimError('invalid_request', message, {
    param: 'cursor',
  });
}

function timeOf(text: string, param: string): number {
  const time = parseIso(text);
  // Years that have places.
  if (time !== null && time >= 0 && time < Number.MAX_SAFE_INTEGER / PLACES_A_MILLISECOND) return time;
  throw new VerbatimError('invalid_request', `${param} is no date or time; allowed: ISO 8601, like 2026-01-31.`, {
    param,
  });
}

export interface LibraryRow {
  is_on: number | boolean;
  keep_days: number | null;
  keeps_audio: number | boolean;
  decided_at: number | null;
  transcripts: number;
  bytes: number;
}

export function toSettings(row: LibraryRow | undefined): LibrarySettings {
  if (row === undefined || row.decided_at === null) {
    return { isOn: false, keepDays: DEFAULT_DAYS, keepsAudio: false, decidedAt: null };
  }
  const { is_on: isOn, keep_days: keepDays, keeps_audio: keepsAudio, decided_at: decidedAt } = row;
  return { isOn: Boolean(isOn), keepDays, keepsAudio: Boolean(keepsAudio), decidedAt: toIso(decidedAt) };
}

/** Throws `invalid_request`. */
export function checkedDays(days: number): number {
  if (Number.isInteger(days) && days >= 1 && days <= MOST_DAYS) return days;
  const message = `Transcripts are kept for 1 to ${MOST_DAYS} whole days, or until they are deleted; not for ${days}.`;
  throw new VerbatimError('invalid_request', message, { param: 'keep_days' });
}

export interface ChangeRow {
  version: number;
  at: number;
  change: string;
}

export function toChange({ version, at, change }: ChangeRow): TranscriptChange {
  return { version, at: toIso(at), change: JSON.parse(change) as JsonValue };
}

export interface ShareRow {
  id: string;
  transcript_id: string;
  created_at: number;
  expires_at: number;
  includes_audio: number | boolean;
}

/** Of a ShareRow, from a table that is called `share`. */
export const SHARE_COLUMNS = 'share.id, share.transcript_id, share.created_at, share.expires_at, share.includes_audio';

export function toShare(row: ShareRow): TranscriptShare {
  return {
    ...{ id: row.id, transcriptId: row.transcript_id, createdAt: toIso(row.created_at) },
    expiresAt: toIso(row.expires_at),
    includesAudio: Boolean(row.includes_audio),
  };
}

/** When a link ends. Throws `invalid_request`. */
export function checkedShareEnd(expiresAt: string, now: number): number {
  const end = parseIso(expiresAt);
  if (end !== null && end > now) return end;
  const message = `"${expiresAt.slice(0, 40)}" is no time to come; allowed: an ISO 8601 date or date and time.`;
  throw new VerbatimError('invalid_request', message, { param: 'expires_at' });
}

export function tooManyShares(most: number): VerbatimError {
  const message = `The transcript has ${most} links that have not expired; revoke one first.`;
  return new VerbatimError('invalid_request', message);
}
