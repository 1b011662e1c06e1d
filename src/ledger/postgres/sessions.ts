import { type Session, type StartedSession, type ClientInfo } from '../access/types.js';
import { randomId } from '../ids.js';
import {
  earliestOf,
  isTouchDue,
  MAX_SESSIONS,
  printableBrowser,
  SESSION_SWEEP_LIMIT,
  toSession,
  type SessionRow,
} from '../rows/sessions.js';
import { digestOf, newToken } from '../rows/tokens.js';
import type { WallClock } from '../time.js';
import type { Querying } from './connections.js';

/** Sessions of the dashboard. Callers bring a transaction where several things change. */
export class PostgresSessions {
  constructor(private readonly clock: WallClock) {}

  async start(
    query: Querying,
    accountId: string,
    method: Session['method'],
    { browser, address }: ClientInfo,
  ): Promise<StartedSession> {
    await query(
      `DELETE FROM sessions WHERE id IN
         (SELECT id FROM sessions WHERE account_id = $1 ORDER BY seen_at DESC, place DESC OFFSET $2)`,
      [accountId, MAX_SESSIONS - 1],
    );
    const token = newToken();
    const now = this.clock();
    const [row] = await query<SessionRow>(
      `INSERT INTO sessions (id, account_id, digest, method, browser, address, created_at, seen_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $7) RETURNING *`,
      [randomId('ses'), accountId, digestOf(token), method, printableBrowser(browser), address, now],
    );
    if (row === undefined) throw new Error('The session was not written.');
    return { ...toSession(row), token };
  }

  isTouchDue(session: Session): boolean {
    return isTouchDue(session, this.clock());
  }

  async touch(query: Querying, { id }: Session): Promise<void> {
    await query('UPDATE sessions SET seen_at = $1 WHERE id = $2', [this.clock(), id]);
  }

  async list(query: Querying, accountId: string): Promise<Session[]> {
    const rows = await query<SessionRow>(
      `SELECT * FROM sessions WHERE account_id = $1 AND seen_at > $2 AND created_at > $3 ORDER BY seen_at DESC, ` +
        `place DESC`,
      [accountId, ...this.earliest()],
    );
    return rows.map(toSession);
  }

  async end(query: Querying, accountId: string, sessionId: string): Promise<boolean> {
    const ended = await query('DELETE FROM sessions WHERE account_id = $1 AND id = $2 RETURNING 1', [
      accountId,
      sessionId,
    ]);
    return ended.length > 0;
  }

  async endAllBut(query: Querying, accountId: string, keptId: string | null): Promise<number> {
    const ended = await query('DELETE FROM sessions WHERE account_id = $1 AND id IS DISTINCT FROM $2 RETURNING 1', [
      accountId,
      keptId,
    ]);
    return ended.length;
  }

  async sweep(query: Querying): Promise<void> {
    await query(
      `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE seen_at <= $1 OR created_at <= $2
         LIMIT ${SESSION_SWEEP_LIMIT} FOR UPDATE SKIP LOCKED)`,
      this.earliest(),
    );
  }

  /** Last use and beginning that a session must be younger than. */
  earliest(): [seenAt: number, createdAt: number] {
    return earliestOf(this.clock());
  }
}
