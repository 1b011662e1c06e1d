/** What changes the stored transcripts, within a transaction. Each locks what the account keeps, and then its rows. */
import { noAccount } from '../rows/accounts.js';
import { headLine, joinLines, replaceHead } from '../rows/transcript-search.js';
import {
  DELETE_AT_ONCE,
  firstPlaceAt,
  freePlace,
  nextVersion,
  PLACES_A_MILLISECOND,
  toTranscript,
  TRANSCRIPT_COLUMNS,
  type TranscriptRow,
} from '../rows/transcripts.js';
import type { TranscriptUpdate } from '../transcripts.js';
import type { Querying } from './connections.js';

export interface Removed {
  id: string;
  account_id: string;
}

/** Charges of one transcription: $1 its id, $2 the account's. */
const CHARGES = 'SELECT hold_id FROM usage_events WHERE transcription_id = $1 AND account_id = $2';
const JOBS = `SELECT id FROM jobs WHERE hold_id IN (${CHARGES})`;
const ANSWERS = `expires_at IS NOT NULL AND (hold_id IN (${CHARGES}) OR job_id IN (${JOBS}))`;

/** Bytes that the account keeps. It is not deleted meanwhile. Throws `account_not_found`. */
export async function openLibrary(query: Querying, accountId: string): Promise<number> {
  const living = await query('SELECT 1 FROM accounts WHERE id = $1 AND deleted_at IS NULL FOR SHARE', [accountId]);
  if (living.length === 0) throw noAccount(accountId);
  await query('INSERT INTO libraries (account_id) VALUES ($1) ON CONFLICT DO NOTHING', [accountId]);
  return lockLibrary(query, accountId);
}

export async function keepTranscript(
  query: Querying,
  row: TranscriptRow,
  { text, tokens, mostBytes }: { text: string; tokens: string; mostBytes: number },
): Promise<'kept' | 'full'> {
  const { account_id: accountId, id } = row;
  const stored = await openLibrary(query, accountId);
  const [known] = await query('SELECT 1 FROM transcripts WHERE id = $1 AND account_id = $2', [id, accountId]);
  if (known !== undefined) return 'kept';
  const bytes = row.content_bytes + row.audio_bytes;
  if (stored + bytes > mostBytes) return 'full';
  const place = await placeFor(query, row);
  await query(
    `INSERT INTO transcripts (place, id, account_id, version, title, created_at, expires_at, duration_seconds,
       language, translation_language, speakers, model, source, source_name, audio_bytes, content_bytes, content)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    [
      ...[place, id, accountId, row.version, row.title, row.created_at, row.expires_at, row.duration_seconds],
      ...[row.language, row.translation_language, row.speakers, row.model, row.source, row.source_name],
      ...[row.audio_bytes, row.content_bytes, text],
    ],
  );
  await query('INSERT INTO transcript_search (account_id, place, expires_at, tokens) VALUES ($1, $2, $3, $4)', [
    ...[accountId, place, row.expires_at, tokens],
  ]);
  await query('UPDATE libraries SET transcripts = transcripts + 1, bytes = bytes + $1 WHERE account_id = $2', [
    bytes,
    accountId,
  ]);
  return 'kept';
}

/** null: there is none. `lines`: of words, of the text; null: as they were. */
export async function updateTranscript(
  query: Querying,
  { accountId, id, now }: { accountId: string; id: string; now: number },
  update: TranscriptUpdate,
  { text, lines, mostBytes }: { text: string | null; lines: readonly string[] | null; mostBytes: number },
): Promise<TranscriptRow | 'conflict' | 'full' | null> {
  const stored = await lockLibrary(query, accountId);
  const [row] = await query<TranscriptRow & { replaced: number }>(
    `SELECT ${TRANSCRIPT_COLUMNS}, CASE WHEN original IS NULL THEN 0 ELSE octet_length(content) END AS replaced
     FROM transcripts WHERE account_id = $1 AND id = $2 AND (expires_at IS NULL OR expires_at > $3)`,
    [accountId, id, now],
  );
  if (row === undefined) return null;
  if (row.version !== update.version) return 'conflict';
  const change = JSON.stringify(update.change);
  const { next, bytes } = nextVersion(row, update, { text, replaced: row.replaced, change });
  if (bytes > 0 && stored + bytes > mostBytes) return 'full';
  await query(
    `UPDATE transcripts SET version = $2, title = $3, speakers = $4, translation_language = $5, content_bytes = $6,
       original = CASE WHEN $7::text IS NULL THEN original ELSE coalesce(original, content) END,
       content = coalesce($7, content)
     WHERE id = $1`,
    [id, next.version, next.title, next.speakers, next.translation_language, next.content_bytes, text],
  );
  await updateTokens(query, next, lines);
  await query('INSERT INTO transcript_changes (transcript_id, version, at, change) VALUES ($1, $2, $3, $4)', [
    ...[id, next.version, now, change],
  ]);
  await query('UPDATE libraries SET bytes = bytes + $1 WHERE account_id = $2', [bytes, accountId]);
  return next;
}

/** With the job that made it, and the stored answer to its request, of which a mark is left. */
export async function deleteTranscript(query: Querying, accountId: string, id: string, now: number): Promise<boolean> {
  const removed = await removeTranscripts(query, [{ id, account_id: accountId }]);
  if (removed.length === 0) return false;
  // Nobody knows the key of a derived one: a repeat is done anew.
  await query(`DELETE FROM idempotency_records WHERE derived AND ${ANSWERS}`, [id, accountId]);
  await query(
    `UPDATE idempotency_records SET deleted_at = $3, result = CASE WHEN result IS NULL THEN NULL ELSE 'null' END,
       body = CASE WHEN body IS NULL THEN NULL ELSE '' END
     WHERE ${ANSWERS}`,
    [id, accountId, now],
  );
  await query(`DELETE FROM jobs WHERE id IN (${JOBS})`, [id, accountId]);
  return true;
}

/** With changes, words and links. Gives those that were still there. */
export async function removeTranscripts(query: Querying, rows: readonly Removed[]): Promise<Removed[]> {
  if (rows.length === 0) return [];
  const accounts = rows.map(({ account_id: accountId }) => accountId);
  await query('SELECT 1 FROM libraries WHERE account_id = ANY ($1) ORDER BY account_id FOR UPDATE', [accounts]);
  return query<Removed>(
    `WITH gone AS (
       DELETE FROM transcripts USING unnest($1::text[], $2::text[]) AS given (id, account_id)
       WHERE transcripts.id = given.id AND transcripts.account_id = given.account_id
       RETURNING transcripts.id, transcripts.account_id, audio_bytes + content_bytes AS bytes),
     counted AS (
       UPDATE libraries SET transcripts = libraries.transcripts - of_account.transcripts,
         bytes = libraries.bytes - of_account.bytes
       FROM (SELECT account_id, count(*) AS transcripts, sum(bytes)::bigint AS bytes FROM gone GROUP BY account_id)
         AS of_account
       WHERE libraries.account_id = of_account.account_id)
     SELECT id, account_id FROM gone`,
    [rows.map(({ id }) => id), accounts],
  );
}

/** Of an account that is deleted; true when there may be more. */
export async function eraseTranscripts(query: Querying, accountId: string): Promise<boolean> {
  const rows = await query<Removed>(
    `SELECT id, account_id FROM transcripts WHERE account_id = $1 LIMIT ${DELETE_AT_ONCE}`,
    [accountId],
  );
  await removeTranscripts(query, rows);
  if (rows.length === 0) await query('DELETE FROM libraries WHERE account_id = $1', [accountId]);
  return rows.length > 0;
}

/** Bytes that the account keeps. */
async function lockLibrary(query: Querying, accountId: string): Promise<number> {
  const [row] = await query<{ bytes: number }>('SELECT bytes FROM libraries WHERE account_id = $1 FOR UPDATE', [
    accountId,
  ]);
  return row?.bytes ?? 0;
}

async function placeFor(query: Querying, { account_id: accountId, created_at: now }: TranscriptRow): Promise<number> {
  // A millisecond is hardly ever full; the few that follow it are asked for at once.
  const taken = await query<{ place: number }>(
    'SELECT max(place) AS place FROM transcripts WHERE account_id = $1 AND place BETWEEN $2 AND $3 GROUP BY place / $4',
    [accountId, firstPlaceAt(now), firstPlaceAt(now + 1_000), PLACES_A_MILLISECOND],
  );
  return freePlace(now, (first, last) => {
    const within = taken.map(({ place }) => place).filter((place) => place >= first && place <= last);
    return within.length === 0 ? null : Math.max(...within);
  });
}

async function updateTokens(query: Querying, row: TranscriptRow, lines: readonly string[] | null): Promise<void> {
  const { account_id: accountId, place } = row;
  const head = headLine(toTranscript(row));
  const where = 'WHERE account_id = $1 AND place = $2';
  if (lines !== null) {
    await query(`UPDATE transcript_search SET tokens = $3 ${where}`, [accountId, place, joinLines(head, lines)]);
    return;
  }
  const [stored] = await query<{ tokens: string }>(`SELECT tokens FROM transcript_search ${where}`, [accountId, place]);
  const tokens = replaceHead(stored?.tokens ?? '', head);
  await query(`UPDATE transcript_search SET tokens = $3 ${where}`, [accountId, place, tokens]);
}
