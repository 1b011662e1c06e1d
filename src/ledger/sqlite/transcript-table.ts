import type Database from 'better-sqlite3';
import { noAccount } from '../rows/accounts.js';
import { headLine, joinLines, replaceHead } from '../rows/transcript-search.js';
import {
  freePlace,
  nextVersion,
  toTranscript,
  TRANSCRIPT_COLUMNS,
  type ChangeRow,
  type LibraryRow,
  type TranscriptRow,
} from '../rows/transcripts.js';
import type { LibrarySettings, TranscriptUpdate } from '../transcripts.js';
import { SearchIndex } from './search-index.js';

/** A row of a list; without words to look for, its tokens are ''. */
export type ListedRow = TranscriptRow & { tokens: string };

const LIVE = '(transcripts.expires_at IS NULL OR transcripts.expires_at > @now)';
const MINE = 'account_id = ? AND id = ? AND (expires_at IS NULL OR expires_at > ?)';
/** Charges of one transcription. */
const CHARGES = 'SELECT hold_id FROM usage_events WHERE transcription_id = @id AND account_id = @accountId';
const JOBS = `SELECT id FROM jobs WHERE hold_id IN (${CHARGES})`;
const ANSWERS = `expires_at IS NOT NULL AND (hold_id IN (${CHARGES}) OR job_id IN (${JOBS}))`;

/** Of a list: filtered by places, which are times. */
const LISTED = 'transcripts.account_id = @accountId AND transcripts.place >= @first AND transcripts.place < @end';

/** The places and the time that a list is of. */
export interface Within {
  accountId: string;
  first: number;
  end: number;
  now: number;
  limit: number;
}

/** The texts that an update stores; null: they stay as they are. */
export interface UpdatedText {
  text: string | null;
  /** Of words. */
  lines: readonly string[] | null;
}

/** The transcripts, and what each account has of them. Callers of what writes hold the write transaction. */
export class TranscriptTable {
  readonly #statements;
  readonly #index: SearchIndex;

  constructor(database: Database.Database) {
    this.#statements = prepare(database);
    this.#index = new SearchIndex(database);
  }

  library(accountId: string): LibraryRow | undefined {
    return this.#statements.library.get(accountId);
  }

  /** Throws `account_not_found`. */
  decide(accountId: string, { isOn, keepDays, keepsAudio }: Omit<LibrarySettings, 'decidedAt'>, now: number): void {
    this.#openLibrary(accountId);
    this.#statements.decide.run(Number(isOn), keepDays, Number(keepsAudio), now, accountId);
  }

  find(accountId: string, id: string, now: number): TranscriptRow | undefined {
    return this.#statements.find.get(accountId, id, now);
  }

  content(accountId: string, id: string, now: number): { version: number; content: string } | undefined {
    return this.#statements.content.get(accountId, id, now);
  }

  original(accountId: string, id: string, now: number): { version: number; content: string } | undefined {
    return this.#statements.original.get(accountId, id, now);
  }

  /** `needed`: as FTS5 asks for it; null: any of the account's. */
  list(within: Within, needed: string | null): ListedRow[] {
    return needed === null ? this.#statements.list.all(within) : this.#statements.search.all({ ...within, needed });
  }

  changes(id: string, before: number, limit: number): ChangeRow[] {
    return this.#statements.changes.all(id, before, limit);
  }

  knownAmong(ids: readonly string[]): string[] {
    return this.#statements.known.all(JSON.stringify(ids));
  }

  /** Whether it has expired or not. */
  owned(accountId: string, id: string): TranscriptRow | undefined {
    return this.#statements.owned.get(id, accountId);
  }

  expired(now: number, limit: number): TranscriptRow[] {
    return this.#statements.expired.all(now, limit);
  }

  some(accountId: string, limit: number): TranscriptRow[] {
    return this.#statements.some.all(accountId, limit);
  }

  /** Throws `account_not_found`. */
  keep(
    row: TranscriptRow,
    { text, tokens }: { text: string; tokens: string },
    mostBytes: number,
  ): 'new' | 'known' | 'full' {
    const { account_id: accountId, id } = row;
    this.#openLibrary(accountId);
    if (this.#statements.owned.get(id, accountId) !== undefined) return 'known';
    const bytes = row.content_bytes + row.audio_bytes;
    if (this.#isFull(accountId, bytes, mostBytes)) return 'full';
    const place = freePlace(row.created_at, (first, last) => this.#statements.newest.get(first, last) ?? null);
    this.#statements.insert.run({ ...row, place, content: text });
    this.#index.insert(place, tokens);
    this.#statements.count.run(1, bytes, accountId);
    return 'new';
  }

  /** Of a version that was checked. */
  update(
    row: TranscriptRow,
    update: TranscriptUpdate,
    { text, lines, mostBytes, now }: UpdatedText & { mostBytes: number; now: number },
  ): TranscriptRow | 'full' {
    const { place, account_id: accountId } = row;
    const change = JSON.stringify(update.change);
    const replaced = this.#statements.replaceable.get(place) ?? 0;
    const { next, bytes } = nextVersion(row, update, { text, replaced, change });
    if (this.#isFull(accountId, bytes, mostBytes)) return 'full';
    this.#statements.update.run(next);
    if (text !== null) this.#statements.replace.run(text, place);
    const head = headLine(toTranscript(next));
    const tokens = lines === null ? replaceHead(this.#index.tokens(place), head) : joinLines(head, lines);
    this.#index.update(place, tokens);
    this.#statements.insertChange.run(row.id, next.version, now, change);
    this.#statements.count.run(0, bytes, accountId);
    return next;
  }

  /** With changes and links; its words are found no more, and erased by eraseSome(). */
  remove({ place, account_id: accountId, audio_bytes: audio, content_bytes: content }: TranscriptRow): void {
    this.#index.delete(place);
    this.#statements.delete.run(place);
    this.#statements.count.run(-1, -audio - content, accountId);
  }

  /** Some words of those that were removed; true when there may be more. */
  eraseSome(): boolean {
    return this.#index.eraseSome();
  }

  /** The job that made it, and the stored answer to its request, of which a mark is left. */
  removeAnswers(accountId: string, id: string, now: number): void {
    this.#statements.deleteDerivedAnswers.run({ id, accountId });
    this.#statements.deleteAnswers.run({ id, accountId, now });
    this.#statements.deleteJobs.run({ id, accountId });
  }

  /** Of an account whose transcripts are deleted. */
  closeLibrary(accountId: string): void {
    this.#statements.closeLibrary.run(accountId);
  }

  #openLibrary(accountId: string): void {
    if (this.#statements.account.get(accountId) === undefined) throw noAccount(accountId);
    this.#statements.openLibrary.run(accountId);
  }

  #isFull(accountId: string, more: number, mostBytes: number): boolean {
    return more > 0 && (this.#statements.library.get(accountId)?.bytes ?? 0) + more > mostBytes;
  }
}

function prepare(database: Database.Database) {
  return {
    account: database.prepare<[string], number>('SELECT 1 FROM accounts WHERE id = ? AND deleted_at IS NULL').pluck(),
    library: database.prepare<[string], LibraryRow>('SELECT * FROM libraries WHERE account_id = ?'),
    openLibrary: database.prepare<[string]>('INSERT INTO libraries (account_id) VALUES (?) ON CONFLICT DO NOTHING'),
    closeLibrary: database.prepare<[string]>('DELETE FROM libraries WHERE account_id = ?'),
    decide: database.prepare<[number, number | null, number, number, string]>(
      'UPDATE libraries SET is_on = ?, keep_days = ?, keeps_audio = ?, decided_at = ? WHERE account_id = ?',
    ),
    count: database.prepare<[number, number, string]>(
      'UPDATE libraries SET transcripts = transcripts + ?, bytes = bytes + ? WHERE account_id = ?',
    ),

    find: database.prepare<[string, string, number], TranscriptRow>(
      `SELECT ${TRANSCRIPT_COLUMNS} FROM transcripts WHERE ${MINE}`,
    ),
    content: database.prepare<[string, string, number], { version: number; content: string }>(
      `SELECT version, content FROM transcripts WHERE ${MINE}`,
    ),
    original: database.prepare<[string, string, number], { version: number; content: string }>(
      `SELECT version, coalesce(original, content) AS content FROM transcripts WHERE ${MINE}`,
    ),
    list: database.prepare<Within, ListedRow>(
      `SELECT ${TRANSCRIPT_COLUMNS}, '' AS tokens FROM transcripts
       WHERE ${LISTED} AND ${LIVE} ORDER BY transcripts.place DESC LIMIT @limit`,
    ),
    // In this order: the index gives the newest first, and the page is soon full.
    search: database.prepare<Within & { needed: string }, ListedRow>(
      `SELECT ${TRANSCRIPT_COLUMNS}, transcript_search.tokens
       FROM transcript_search_index found CROSS JOIN transcripts ON transcripts.place = found.rowid
         CROSS JOIN transcript_search ON transcript_search.place = found.rowid
       WHERE found.transcript_search_index MATCH @needed AND found.rowid >= @first AND found.rowid < @end
         AND transcripts.account_id = @accountId AND ${LIVE}
       ORDER BY found.rowid DESC LIMIT @limit`,
    ),
    changes: database.prepare<[string, number, number], ChangeRow>(
      `SELECT version, at, change FROM transcript_changes WHERE transcript_id = ? AND version < ?
       ORDER BY version DESC LIMIT ?`,
    ),
    known: database
      .prepare<[string], string>('SELECT id FROM transcripts WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id')
      .pluck(),

    newest: database
      .prepare<[number, number], number | null>('SELECT max(place) FROM transcript_search WHERE place BETWEEN ? AND ?')
      .pluck(),
    insert: database.prepare<TranscriptRow & { content: string }>(
      `INSERT INTO transcripts (place, id, account_id, version, title, created_at, expires_at, duration_seconds,
         language, translation_language, speakers, model, source, source_name, audio_bytes, content_bytes, content)
       VALUES (@place, @id, @account_id, @version, @title, @created_at, @expires_at, @duration_seconds,
         @language, @translation_language, @speakers, @model, @source, @source_name, @audio_bytes, @content_bytes,
         @content)`,
    ),

    // The first text stays as the original; later ones are replaced.
    replaceable: database
      .prepare<[number], number>(
        'SELECT iif(original IS NULL, 0, octet_length(content)) FROM transcripts WHERE place = ?',
      )
      .pluck(),
    update: database.prepare<TranscriptRow>(
      `UPDATE transcripts SET version = @version, title = @title, speakers = @speakers,
         translation_language = @translation_language, content_bytes = @content_bytes
       WHERE place = @place`,
    ),
    replace: database.prepare<[string, number]>(
      'UPDATE transcripts SET original = coalesce(original, content), content = ? WHERE place = ?',
    ),
    insertChange: database.prepare<[string, number, number, string]>(
      'INSERT INTO transcript_changes (transcript_id, version, at, change) VALUES (?, ?, ?, ?)',
    ),

    owned: database.prepare<[string, string], TranscriptRow>(
      `SELECT ${TRANSCRIPT_COLUMNS} FROM transcripts WHERE id = ? AND account_id = ?`,
    ),
    expired: database.prepare<[number, number], TranscriptRow>(
      `SELECT ${TRANSCRIPT_COLUMNS} FROM transcripts WHERE expires_at <= ? ORDER BY expires_at LIMIT ?`,
    ),
    some: database.prepare<[string, number], TranscriptRow>(
      `SELECT ${TRANSCRIPT_COLUMNS} FROM transcripts WHERE account_id = ? LIMIT ?`,
    ),
    delete: database.prepare<[number]>('DELETE FROM transcripts WHERE place = ?'),
    deleteJobs: database.prepare<{ id: string; accountId: string }>(`DELETE FROM jobs WHERE id IN (${JOBS})`),
    // Nobody knows the key of these: a repeat is done anew.
    deleteDerivedAnswers: database.prepare<{ id: string; accountId: string }>(
      `DELETE FROM idempotency_records WHERE derived = 1 AND ${ANSWERS}`,
    ),
    deleteAnswers: database.prepare<{ id: string; accountId: string; now: number }>(
      `UPDATE idempotency_records SET deleted_at = @now, result = iif(result IS NULL, NULL, 'null'),
         body = iif(body IS NULL, NULL, '')
       WHERE ${ANSWERS}`,
    ),
  };
}
