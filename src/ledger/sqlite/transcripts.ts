import { setImmediate } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { JsonText, textOfJson } from '../json.js';
import { findHits, ftsQuery, headLine, joinLines, textLines, transcriptSearch } from '../rows/transcript-search.js';
import {
  checkedDays,
  DELETE_AT_ONCE,
  spanOf,
  toChange,
  toRow,
  toSettings,
  toTranscript,
  type TranscriptRow,
} from '../rows/transcripts.js';
import { toIso, type WallClock } from '../time.js';
import type {
  LibrarySettings,
  LibraryUsage,
  NewTranscript,
  StoredTranscript,
  TranscriptChange,
  TranscriptHit,
  TranscriptLedger,
  TranscriptQuery,
  TranscriptShare,
  TranscriptUpdate,
} from '../transcripts.js';
import { TranscriptShares } from './transcript-shares.js';
import { TranscriptTable } from './transcript-table.js';
import type { Transactions } from './transactions.js';

export interface TranscriptParts {
  transactions: Transactions;
  clock: WallClock;
  /** Called within the transaction in which a text is deleted. */
  onErased: () => void;
}

/** See TranscriptLedger. */
export class SqliteTranscripts implements TranscriptLedger {
  readonly #table: TranscriptTable;
  readonly #shares: TranscriptShares;

  constructor(
    database: Database.Database,
    private readonly parts: TranscriptParts,
  ) {
    this.#table = new TranscriptTable(database);
    this.#shares = new TranscriptShares(database, parts);
  }

  settings(accountId: string): Promise<LibrarySettings> {
    return this.parts.transactions.read(() => toSettings(this.#table.library(accountId)));
  }

  decide(accountId: string, settings: Omit<LibrarySettings, 'decidedAt'>): Promise<LibrarySettings> {
    const { transactions, clock } = this.parts;
    if (settings.keepDays !== null) checkedDays(settings.keepDays);
    return transactions.write(() => {
      this.#table.decide(accountId, settings, clock());
      return toSettings(this.#table.library(accountId));
    });
  }

  usage(accountId: string): Promise<LibraryUsage> {
    return this.parts.transactions.read(() => {
      const { transcripts, bytes } = this.#table.library(accountId) ?? { transcripts: 0, bytes: 0 };
      return { transcripts, bytes };
    });
  }

  async keep(transcript: NewTranscript, mostBytes: number): Promise<'kept' | 'full'> {
    const { transactions, clock } = this.parts;
    const { id, accountId } = transcript;
    const text = textOfJson(transcript.content);
    const tokens = joinLines(headLine(transcript), await textLines(transcript.searchTexts));
    const outcome = await transactions.write(
      () => this.#table.keep(toRow(transcript, { now: clock(), text }), { text, tokens }, mostBytes),
      (done) => {
        if (done === 'new') this.#removeAll([this.#table.owned(accountId, id)].filter((row) => row !== undefined));
      },
    );
    return outcome === 'full' ? 'full' : 'kept';
  }

  find(accountId: string, id: string): Promise<StoredTranscript | null> {
    return this.parts.transactions.read(() => {
      const row = this.#find(accountId, id);
      return row === undefined ? null : toTranscript(row);
    });
  }

  content(
    accountId: string,
    id: string,
    which: 'current' | 'original' = 'current',
  ): Promise<{ version: number; content: JsonText } | null> {
    return this.parts.transactions.read(() => {
      const now = this.parts.clock();
      const isOriginal = which === 'original';
      const row = isOriginal ? this.#table.original(accountId, id, now) : this.#table.content(accountId, id, now);
      if (row === undefined) return null;
      return { version: isOriginal ? 1 : row.version, content: new JsonText(row.content) };
    });
  }

  async list(accountId: string, query: TranscriptQuery): Promise<TranscriptHit[]> {
    const now = this.parts.clock();
    const span = spanOf(query);
    const whole = query.after === null ? span : spanOf({ ...query, after: null });
    const search = transcriptSearch(accountId, query);
    return findHits(search, query.after === null, (needed, anywhere) => {
      const within = { accountId, now, ...(anywhere ? { ...whole, limit: 1 } : { ...span, limit: query.limit }) };
      return this.parts.transactions.read(() => this.#table.list(within, needed === null ? null : ftsQuery(needed)));
    });
  }

  async update(
    accountId: string,
    id: string,
    update: TranscriptUpdate,
    mostBytes: number,
  ): Promise<StoredTranscript | 'conflict' | 'full' | null> {
    const text = update.text === undefined ? null : textOfJson(update.text.content);
    const lines = update.text === undefined ? null : await textLines(update.text.searchTexts);
    const row = await this.parts.transactions.write(() => {
      const found = this.#find(accountId, id);
      if (found === undefined) return null;
      if (found.version !== update.version) return 'conflict';
      return this.#table.update(found, update, { text, lines, mostBytes, now: this.parts.clock() });
    });
    return row === null || typeof row === 'string' ? row : toTranscript(row);
  }

  changes(
    accountId: string,
    id: string,
    { limit, before }: { limit: number; before: number | null },
  ): Promise<TranscriptChange[]> {
    return this.parts.transactions.read(() => {
      if (this.#find(accountId, id) === undefined) return [];
      return this.#table.changes(id, before ?? Number.MAX_SAFE_INTEGER, limit).map(toChange);
    });
  }

  async delete(accountId: string, id: string): Promise<{ id: string; deletedAt: string } | null> {
    const { transactions, clock } = this.parts;
    const deleted = await transactions.write(() => {
      const row = this.#table.owned(accountId, id);
      if (row === undefined) return null;
      const now = clock();
      this.#removeAll([row]);
      this.#table.removeAnswers(accountId, id, now);
      return { id, deletedAt: toIso(now) };
    });
    await this.#eraseWords();
    return deleted;
  }

  async deleteExpired(limit: number): Promise<{ id: string; accountId: string }[]> {
    const { transactions, clock } = this.parts;
    const deleted = await transactions.write(() => {
      const rows = this.#table.expired(clock(), limit);
      this.#removeAll(rows);
      return rows.map(({ id, account_id: accountId }) => ({ id, accountId }));
    });
    await this.#eraseWords();
    return deleted;
  }

  knownAmong(ids: readonly string[]): Promise<string[]> {
    return this.parts.transactions.read(() => this.#table.knownAmong(ids));
  }

  createShare(
    accountId: string,
    transcriptId: string,
    share: { expiresAt: string; includesAudio: boolean },
  ): Promise<{ share: TranscriptShare; token: string } | null> {
    return this.#shares.create(accountId, transcriptId, share);
  }

  shares(accountId: string, transcriptId: string): Promise<TranscriptShare[]> {
    return this.#shares.list(accountId, transcriptId);
  }

  revokeShare(accountId: string, transcriptId: string, shareId: string): Promise<boolean> {
    return this.#shares.revoke(accountId, transcriptId, shareId);
  }

  findShared(token: string): Promise<{ share: TranscriptShare; transcript: StoredTranscript } | null> {
    return this.#shares.find(token);
  }

  /** Of an account that is deleted, within its transaction; true when there may be more. */
  eraseSome(accountId: string): boolean {
    if (this.#table.eraseSome()) return true;
    const rows = this.#table.some(accountId, DELETE_AT_ONCE);
    this.#removeAll(rows);
    if (rows.length > 0) return true;
    this.#table.closeLibrary(accountId);
    return false;
  }

  /** One step of an erasure that was left unfinished; the caller gives it a transaction. */
  sweep(inTransaction: (work: () => boolean) => boolean): void {
    inTransaction(() => this.#eraseSomeWords());
  }

  /** What a dead process leaves of them, sweep() erases. */
  async #eraseWords(): Promise<void> {
    while (await this.parts.transactions.passing(() => this.#eraseSomeWords())) await setImmediate();
  }

  #eraseSomeWords(): boolean {
    const mayBeMore = this.#table.eraseSome();
    if (mayBeMore) this.parts.onErased();
    return mayBeMore;
  }

  #find(accountId: string, id: string): TranscriptRow | undefined {
    return this.#table.find(accountId, id, this.parts.clock());
  }

  #removeAll(rows: readonly TranscriptRow[]): void {
    for (const row of rows) this.#table.remove(row);
    if (rows.length > 0) this.parts.onErased();
  }
}
