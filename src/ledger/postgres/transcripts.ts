import { JsonText, textOfJson } from '../json.js';
import {
  findHits,
  headLine,
  joinLines,
  textLines,
  transcriptSearch,
  tsQuery,
  type NeededTerms,
} from '../rows/transcript-search.js';
import {
  checkedDays,
  spanOf,
  toChange,
  toRow,
  toSettings,
  toTranscript,
  TRANSCRIPT_COLUMNS,
  type ChangeRow,
  type LibraryRow,
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
import type { Statements } from './statements.js';
import { PostgresTranscriptShares } from './transcript-shares.js';
import {
  deleteTranscript,
  keepTranscript,
  openLibrary,
  removeTranscripts,
  updateTranscript,
  type Removed,
} from './transcript-writes.js';

/** $1 the account, $2 the transcript, $3 now. */
const MINE = 'account_id = $1 AND id = $2 AND (expires_at IS NULL OR expires_at > $3)';
/** Of a list: $1 the account, $2 and $3 the places, which are times, $4 now, $5 how many. */
const LISTED = `transcripts.account_id = $1 AND transcripts.place >= $2 AND transcripts.place < $3
  AND (transcripts.expires_at IS NULL OR transcripts.expires_at > $4)`;

/**
 * Where words are looked for. A common one is soon found among the newest; of one that is not, the index gives few
 * places. The planner would choose by how common a word is, which it does not know of rare ones.
 */
const OF_ACCOUNT = `FROM transcript_search WHERE account_id = $1 AND place >= $2 AND place < $3
  AND (expires_at IS NULL OR expires_at > $4)`;
const AMONG_NEWEST = `SELECT account_id, place FROM
  (SELECT account_id, place, entries ${OF_ACCOUNT} ORDER BY place DESC LIMIT 300) newest
  WHERE entries @@ $6::tsquery`;
const BY_WORDS = `SELECT account_id, place ${OF_ACCOUNT} AND entries @@ $6::tsquery`;

const searchSql = (found: string): string =>
  `WITH found AS MATERIALIZED (${found}),
     page AS MATERIALIZED (SELECT account_id, place FROM found ORDER BY place DESC LIMIT $5)
   SELECT ${TRANSCRIPT_COLUMNS}, transcript_search.tokens
   FROM page JOIN transcripts USING (account_id, place) JOIN transcript_search USING (account_id, place)
   ORDER BY page.place DESC`;

type ListedRow = TranscriptRow & { tokens: string };

/** See TranscriptLedger. */
export class PostgresTranscripts implements TranscriptLedger {
  readonly #shares: PostgresTranscriptShares;

  constructor(
    private readonly statements: Statements,
    private readonly clock: WallClock,
  ) {
    this.#shares = new PostgresTranscriptShares(statements, clock);
  }

  async settings(accountId: string): Promise<LibrarySettings> {
    return toSettings(await this.#library(accountId));
  }

  decide(accountId: string, settings: Omit<LibrarySettings, 'decidedAt'>): Promise<LibrarySettings> {
    const { isOn, keepDays, keepsAudio } = settings;
    if (keepDays !== null) checkedDays(keepDays);
    return this.statements.transaction(
      async (query) => {
        await openLibrary(query, accountId);
        const [row] = await query<LibraryRow>(
          `UPDATE libraries SET is_on = $1, keep_days = $2, keeps_audio = $3, decided_at = $4 WHERE account_id = $5
           RETURNING *`,
          [isOn, keepDays, keepsAudio, this.clock(), accountId],
        );
        return toSettings(row);
      },
      { repeatable: true },
    );
  }

  async usage(accountId: string): Promise<LibraryUsage> {
    const { transcripts, bytes } = (await this.#library(accountId)) ?? { transcripts: 0, bytes: 0 };
    return { transcripts, bytes };
  }

  async keep(transcript: NewTranscript, mostBytes: number): Promise<'kept' | 'full'> {
    const text = textOfJson(transcript.content);
    const tokens = joinLines(headLine(transcript), await textLines(transcript.searchTexts));
    const row = toRow(transcript, { now: this.clock(), text });
    return this.statements.transaction((query) => keepTranscript(query, row, { text, tokens, mostBytes }), {
      repeatable: true,
    });
  }

  async find(accountId: string, id: string): Promise<StoredTranscript | null> {
    const [row] = await this.statements.repeatable<TranscriptRow>(
      `SELECT ${TRANSCRIPT_COLUMNS} FROM transcripts WHERE ${MINE}`,
      [accountId, id, this.clock()],
    );
    return row === undefined ? null : toTranscript(row);
  }

  async content(
    accountId: string,
    id: string,
    which: 'current' | 'original' = 'current',
  ): Promise<{ version: number; content: JsonText } | null> {
    const columns = which === 'current' ? 'version, content' : '1 AS version, coalesce(original, content) AS content';
    const [row] = await this.statements.repeatable<{ version: number; content: string }>(
      `SELECT ${columns} FROM transcripts WHERE ${MINE}`,
      [accountId, id, this.clock()],
    );
    return row === undefined ? null : { version: row.version, content: new JsonText(row.content) };
  }

  async list(accountId: string, query: TranscriptQuery): Promise<TranscriptHit[]> {
    const now = this.clock();
    const span = spanOf(query);
    const whole = query.after === null ? span : spanOf({ ...query, after: null });
    const search = transcriptSearch(accountId, query);
    return findHits(search, query.after === null, (needed, anywhere) => {
      const { first, end } = anywhere ? whole : span;
      return this.#list([accountId, first, end, now, anywhere ? 1 : query.limit], needed);
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
    const row = await this.statements.transaction((query) =>
      updateTranscript(query, { accountId, id, now: this.clock() }, update, { text, lines, mostBytes }),
    );
    return row === null || typeof row === 'string' ? row : toTranscript(row);
  }

  async changes(
    accountId: string,
    id: string,
    { limit, before }: { limit: number; before: number | null },
  ): Promise<TranscriptChange[]> {
    const rows = await this.statements.repeatable<ChangeRow>(
      `SELECT change.version, change.at, change.change FROM transcript_changes change
       JOIN transcripts ON transcripts.id = change.transcript_id
       WHERE account_id = $1 AND transcripts.id = $2 AND (expires_at IS NULL OR expires_at > $3)
         AND change.version < $4
       ORDER BY change.version DESC LIMIT $5`,
      [accountId, id, this.clock(), before ?? Number.MAX_SAFE_INTEGER, limit],
    );
    return rows.map(toChange);
  }

  async delete(accountId: string, id: string): Promise<{ id: string; deletedAt: string } | null> {
    const now = this.clock();
    const isDeleted = await this.statements.transaction((query) => deleteTranscript(query, accountId, id, now));
    return isDeleted ? { id, deletedAt: toIso(now) } : null;
  }

  async deleteExpired(limit: number): Promise<{ id: string; accountId: string }[]> {
    const removed = await this.statements.transaction(async (query) => {
      const rows = await query<Removed>(
        'SELECT id, account_id FROM transcripts WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2',
        [this.clock(), limit],
      );
      return removeTranscripts(query, rows);
    });
    return removed.map(({ id, account_id: accountId }) => ({ id, accountId }));
  }

  async knownAmong(ids: readonly string[]): Promise<string[]> {
    const rows = await this.statements.repeatable<{ id: string }>(
      'SELECT id FROM transcripts WHERE id = ANY ($1) ORDER BY id',
      [ids],
    );
    return rows.map(({ id }) => id);
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

  /** `within`: as LISTED has it, the limit at last. */
  async #list(within: readonly (string | number)[], needed: NeededTerms | null): Promise<ListedRow[]> {
    if (needed === null) {
      return this.statements.repeatable<ListedRow>(
        `SELECT ${TRANSCRIPT_COLUMNS}, '' AS tokens FROM transcripts WHERE ${LISTED}
         ORDER BY transcripts.place DESC LIMIT $5`,
        within,
      );
    }
    const values = [...within, tsQuery(needed)];
    const newest = await this.statements.repeatable<ListedRow>(searchSql(AMONG_NEWEST), values);
    if (newest.length === within.at(-1)) return newest;
    return this.statements.repeatable<ListedRow>(searchSql(BY_WORDS), values);
  }

  async #library(accountId: string): Promise<LibraryRow | undefined> {
    const [row] = await this.statements.repeatable<LibraryRow>('SELECT * FROM libraries WHERE account_id = $1', [
      accountId,
    ]);
    return row;
  }
}
