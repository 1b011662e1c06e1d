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
import type { Statements } from './statements.js';

/** $1 the account, $2 the transcript, $3 now. */
const MINE = `transcripts.account_id = $1 AND transcripts.id = $2
  AND (transcripts.expires_at IS NULL OR transcripts.expires_at > $3)`;

/** Links to transcripts. */
export class PostgresTranscriptShares {
  constructor(
    private readonly statements: Statements,
    private readonly clock: WallClock,
  ) {}

  async create(
    accountId: string,
    transcriptId: string,
    { expiresAt, includesAudio }: { expiresAt: string; includesAudio: boolean },
  ): Promise<{ share: TranscriptShare; token: string } | null> {
    const now = this.clock();
    const end = checkedShareEnd(expiresAt, now);
    const token = newToken();
    return this.statements.transaction(async (query) => {
      const mine = await query(`SELECT 1 FROM transcripts WHERE ${MINE} FOR UPDATE`, [accountId, transcriptId, now]);
      if (mine.length === 0) return null;
      await query('DELETE FROM transcript_shares WHERE transcript_id = $1 AND expires_at <= $2', [transcriptId, now]);
      const [share] = await query<ShareRow>(
        `INSERT INTO transcript_shares AS share (id, transcript_id, digest, includes_audio, created_at, expires_at)
         SELECT $1, $2, $3::bytea, $4::boolean, $5::bigint, $6::bigint
         WHERE (SELECT count(*) FROM transcript_shares WHERE transcript_id = $2) < ${MOST_SHARES}
         RETURNING ${SHARE_COLUMNS}`,
        [randomId('share'), transcriptId, digestOf(token), includesAudio, now, end],
      );
      if (share === undefined) throw tooManyShares(MOST_SHARES);
      return { share: toShare(share), token };
    });
  }

  async list(accountId: string, transcriptId: string): Promise<TranscriptShare[]> {
    const rows = await this.statements.repeatable<ShareRow>(
      `SELECT ${SHARE_COLUMNS} FROM transcript_shares share JOIN transcripts ON transcripts.id = share.transcript_id
       WHERE ${MINE} AND share.expires_at > $3 ORDER BY share.created_at DESC, share.id DESC`,
      [accountId, transcriptId, this.clock()],
    );
    return rows.map(toShare);
  }

  async revoke(accountId: string, transcriptId: string, shareId: string): Promise<boolean> {
    const rows = await this.statements.once(
      `DELETE FROM transcript_shares WHERE id = $1 AND transcript_id =
         (SELECT id FROM transcripts WHERE id = $2 AND account_id = $3) RETURNING 1`,
      [shareId, transcriptId, accountId],
    );
    return rows.length > 0;
  }

  async find(token: string): Promise<{ share: TranscriptShare; transcript: StoredTranscript } | null> {
    const now = this.clock();
    const [share] = await this.statements.repeatable<ShareRow>(
      `SELECT ${SHARE_COLUMNS} FROM transcript_shares share WHERE share.digest = $1 AND share.expires_at > $2`,
      [digestOf(token), now],
    );
    if (share === undefined) return null;
    const [row] = await this.statements.repeatable<TranscriptRow>(
      `SELECT ${TRANSCRIPT_COLUMNS} FROM transcripts JOIN accounts ON accounts.id = transcripts.account_id
       WHERE transcripts.id = $1 AND (transcripts.expires_at IS NULL OR transcripts.expires_at > $2)
         AND accounts.suspended_at IS NULL AND accounts.deleted_at IS NULL`,
      [share.transcript_id, now],
    );
    return row === undefined ? null : { share: toShare(share), transcript: toTranscript(row) };
  }
}
