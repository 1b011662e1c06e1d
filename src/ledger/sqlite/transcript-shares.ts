import type Database from 'better-sqlite3';
import { randomId } from '../ids.js';
import { digestOf, newToken } from '../rows/tokens.js';
import {
  checkedShareEnd,
  SHARE_COLUMNS,
  toShare,
  tooManyShares,
  toTranscript,
  TRANSCRIPT_COLUMNS,
  type ShareRow,
  type TranscriptRow,
} from '../rows/transcripts.js';
import type { WallClock } from '../time.js';
import { MOST_SHARES, type StoredTranscript, type TranscriptShare } from '../transcripts.js';
import type { Transactions } from './transactions.js';

const LIVE = 'transcripts.expires_at IS NULL OR transcripts.expires_at > @now';
const MINE = `transcripts.account_id = @accountId AND transcripts.id = @transcriptId AND (${LIVE})`;

/** Links to transcripts. */
export class TranscriptShares {
  readonly #statements;

  constructor(
    database: Database.Database,
    private readonly parts: { transactions: Transactions; clock: WallClock },
  ) {
    this.#statements = prepare(database);
  }

  create(
    accountId: string,
    transcriptId: string,
    { expiresAt, includesAudio }: { expiresAt: string; includesAudio: boolean },
  ): Promise<{ share: TranscriptShare; token: string } | null> {
    const now = this.parts.clock();
    const end = checkedShareEnd(expiresAt, now);
    const token = newToken();
    return this.parts.transactions.write(() => {
      if (this.#statements.mine.get({ accountId, transcriptId, now }) === undefined) return null;
      this.#statements.deleteExpired.run(transcriptId, now);
      if ((this.#statements.count.get(transcriptId) ?? 0) >= MOST_SHARES) throw tooManyShares(MOST_SHARES);
      const id = randomId('share');
      const share = { id, transcript_id: transcriptId, created_at: now, expires_at: end };
      const row = { ...share, includes_audio: Number(includesAudio) };
      this.#statements.insert.run({ ...row, digest: digestOf(token) });
      return { share: toShare(row), token };
    });
  }

  list(accountId: string, transcriptId: string): Promise<TranscriptShare[]> {
    const now = this.parts.clock();
    return this.parts.transactions.read(() => this.#statements.list.all({ accountId, transcriptId, now }).map(toShare));
  }

  revoke(accountId: string, transcriptId: string, shareId: string): Promise<boolean> {
    return this.parts.transactions.write(
      () => this.#statements.delete.run({ accountId, transcriptId, shareId }).changes > 0,
    );
  }

  find(token: string): Promise<{ share: TranscriptShare; transcript: StoredTranscript } | null> {
    const now = this.parts.clock();
    return this.parts.transactions.read(() => {
      const share = this.#statements.find.get(digestOf(token), now);
      if (share === undefined) return null;
      const row = this.#statements.shared.get({ transcriptId: share.transcript_id, now });
      return row === undefined ? null : { share: toShare(share), transcript: toTranscript(row) };
    });
  }
}

function prepare(database: Database.Database) {
  return {
    mine: database.prepare<Record<string, string | number>, number>(`SELECT 1 FROM transcripts WHERE ${MINE}`).pluck(),
    count: database.prepare<[string], number>('SELECT count(*) FROM transcript_shares WHERE transcript_id = ?').pluck(),
    insert: database.prepare<ShareRow & { digest: Buffer }>(
      `INSERT INTO transcript_shares (id, transcript_id, digest, includes_audio, created_at, expires_at)
       VALUES (@id, @transcript_id, @digest, @includes_audio, @created_at, @expires_at)`,
    ),
    list: database.prepare<Record<string, string | number>, ShareRow>(
      `SELECT ${SHARE_COLUMNS} FROM transcript_shares share JOIN transcripts ON transcripts.id = share.transcript_id
       WHERE ${MINE} AND share.expires_at > @now ORDER BY share.created_at DESC, share.id DESC`,
    ),
    delete: database.prepare<Record<string, string>>(
      `DELETE FROM transcript_shares WHERE id = @shareId AND transcript_id =
         (SELECT id FROM transcripts WHERE id = @transcriptId AND account_id = @accountId)`,
    ),
    deleteExpired: database.prepare<[string, number]>(
      'DELETE FROM transcript_shares WHERE transcript_id = ? AND expires_at <= ?',
    ),
    find: database.prepare<[Buffer, number], ShareRow>(
      `SELECT ${SHARE_COLUMNS} FROM transcript_shares share WHERE share.digest = ? AND share.expires_at > ?`,
    ),
    shared: database.prepare<Record<string, string | number>, TranscriptRow>(
      `SELECT ${TRANSCRIPT_COLUMNS} FROM transcripts JOIN accounts ON accounts.id = transcripts.account_id
       WHERE transcripts.id = @transcriptId AND (${LIVE})
         AND accounts.suspended_at IS NULL AND accounts.deleted_at IS NULL`,
    ),
  };
}
