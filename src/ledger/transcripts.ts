/** Transcripts that an account chose to keep: stored, found by their words, corrected, shared, deleted. */
import type { JsonText, JsonValue } from './json.js';

export const TRANSCRIPT_SOURCES = ['page', 'api', 'job', 'live'] as const;
export type TranscriptSource = (typeof TRANSCRIPT_SOURCES)[number];

/** An account's links of one transcript at a time. */
export const MOST_SHARES = 100;

/** What an account decided about keeping transcripts. */
export interface LibrarySettings {
  /** Whether a transcript is kept without being asked for. */
  isOn: boolean;
  /** Whole days, 1 to 3650; null: until it is deleted. */
  keepDays: number | null;
  keepsAudio: boolean;
  /** null: the account has never been asked. */
  decidedAt: string | null;
}

/** A row of a list: everything but the text. */
export interface StoredTranscript {
  /** The transcription's. */
  id: string;
  accountId: string;
  /** 1, and one more with every change. */
  version: number;
  title: string;
  /** When it was kept. */
  createdAt: string;
  /** null: never. */
  expiresAt: string | null;
  durationSeconds: number;
  /** As it was spoken. */
  language: string;
  /** null: there is no translation. */
  translationLanguage: string | null;
  /** As shown, in order. */
  speakers: readonly string[];
  model: string | null;
  source: { kind: TranscriptSource; /** Of the API key; null: there is none to show. */ name: string | null };
  /** Of the audio that is kept beside it; 0: none. */
  audioBytes: number;
  /** Of the text as stored, with its original and its changes. */
  contentBytes: number;
  /** The cursor for earlier ones. */
  place: string;
}

export interface NewTranscript {
  id: string;
  accountId: string;
  title: string;
  /** Whole days from now; null: never. */
  keepDays: number | null;
  durationSeconds: number;
  language: string;
  translationLanguage: string | null;
  speakers: readonly string[];
  model: string | null;
  source: { kind: TranscriptSource; name: string | null };
  audioBytes: number;
  /** The caller's own document: segments, words, translation, notes. */
  content: JsonValue | JsonText;
  /** What is found beside the title: a text for each segment, then any others. */
  searchTexts: readonly string[];
}

export interface TranscriptQuery {
  /**
   * Words that must all be in it. The last one is unfinished if none has it whole; null, or without a letter or digit:
   * any.
   */
  words: string | null;
  language?: string | null;
  source?: TranscriptSource | null;
  /** A speaker's name, whole; case and accents do not matter. */
  speaker?: string | null;
  /** Kept from this time on, and before that one; ISO 8601. */
  from?: string | null;
  to?: string | null;
  limit: number;
  /** `place` of the last one of the page before. */
  after: string | null;
}

export interface TranscriptHit {
  transcript: StoredTranscript;
  /**
   * Indexes of `searchTexts`, ascending, at most three: of texts that have every word, else of texts that have one.
   * Empty without words, or where the title alone has them.
   */
  matches: readonly number[];
}

export interface TranscriptUpdate {
  /** The one that the change was made to. */
  version: number;
  /** What was changed, and by whom: kept as it is. */
  change: JsonValue;
  title?: string;
  speakers?: readonly string[];
  /** The caller's document after the change, and what is found in it; the first one is kept as the original. */
  text?: { content: JsonValue | JsonText; searchTexts: readonly string[]; translationLanguage: string | null };
}

/** A change that was made, and the version that it made. */
export interface TranscriptChange {
  version: number;
  at: string;
  change: JsonValue;
}

export interface TranscriptShare {
  id: string;
  transcriptId: string;
  createdAt: string;
  expiresAt: string;
  includesAudio: boolean;
}

/** What an account keeps. */
export interface LibraryUsage {
  transcripts: number;
  /** Of texts and audio. */
  bytes: number;
}

/** Where a method gives null, the account has no such transcript, or it has expired. */
export interface TranscriptLedger {
  settings(accountId: string): Promise<LibrarySettings>;
  /** Decided now. Transcripts that are kept already stay as they are. Throws `invalid_request` for bad days. */
  decide(accountId: string, settings: Omit<LibrarySettings, 'decidedAt'>): Promise<LibrarySettings>;
  usage(accountId: string): Promise<LibraryUsage>;

  /**
   * 'full': the account would have more than `mostBytes`, and nothing is stored. A repeat with the same id changes
   * nothing, and is 'kept'. Throws `account_not_found` once the account is deleted.
   */
  keep(transcript: NewTranscript, mostBytes: number): Promise<'kept' | 'full'>;
  find(accountId: string, id: string): Promise<StoredTranscript | null>;
  /** The caller's document as it is now, or as it was kept. A long one is best not parsed in one turn. */
  content(
    accountId: string,
    id: string,
    which?: 'current' | 'original',
  ): Promise<{ version: number; content: JsonText } | null>;
  /** Newest first. */
  list(accountId: string, query: TranscriptQuery): Promise<TranscriptHit[]>;

  /** 'conflict': it has another version by now. 'full': as keep(). */
  update(
    accountId: string,
    id: string,
    update: TranscriptUpdate,
    mostBytes: number,
  ): Promise<StoredTranscript | 'conflict' | 'full' | null>;
  /** The newest first; `before`: a version. */
  changes(accountId: string, id: string, page: { limit: number; before: number | null }): Promise<TranscriptChange[]>;

  /**
   * At once, with its changes, search entries, shares, the job that made it, and the stored answer to its request: a
   * repeat of that request under its Idempotency-Key is a conflict. Its audio is the caller's to delete.
   */
  delete(accountId: string, id: string): Promise<{ id: string; deletedAt: string } | null>;
  /**
   * Deletes at most `limit` that have expired, the earliest first, and gives those. Jobs and stored answers end by
   * their own retention.
   */
  deleteExpired(limit: number): Promise<{ id: string; accountId: string }[]>;
  /** Those of the ids that are kept: audio of the others is left over. */
  knownAmong(ids: readonly string[]): Promise<string[]>;

  /**
   * A link to read it. The token is given once; only its hash is stored. Throws `invalid_request` when the time is past
   * or no date, or there are MOST_SHARES links that have not expired.
   */
  createShare(
    accountId: string,
    transcriptId: string,
    share: { expiresAt: string; includesAudio: boolean },
  ): Promise<{ share: TranscriptShare; token: string } | null>;
  /** That have not expired, the newest first. */
  shares(accountId: string, transcriptId: string): Promise<TranscriptShare[]>;
  /** False: there is no such link. */
  revokeShare(accountId: string, transcriptId: string, shareId: string): Promise<boolean>;
  /** null: unknown, revoked or expired, or its account is suspended or deleted. */
  findShared(token: string): Promise<{ share: TranscriptShare; transcript: StoredTranscript } | null>;
}
