import type Database from 'better-sqlite3';
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

export interface FoundSession {
  accountId: string;
  session: Session;
}

/** Sessions of the dashboard. Callers hold the write transaction where they change several things. */
export class Sessions {
  readonly #insert;
  readonly #crowded;
  readonly #find;
  readonly #touch;
  readonly #list;
  readonly #end;
  readonly #endAllBut;
  readonly #sweep;

  constructor(
    database: Database.Database,
    private readonly clock: WallClock,
  ) {
    this.#insert = database.prepare<[string, string, Buffer, string, string, string, number, number], SessionRow>(
      `INSERT INTO sessions (id, account_id, digest, method, browser, address, created_at, seen_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
    );
    this.#crowded = database.prepare<[string, number]>(
      `DELETE FROM sessions WHERE id IN
         (SELECT id FROM sessions WHERE account_id = ? ORDER BY seen_at DESC, rowid DESC LIMIT -1 OFFSET ?)`,
    );
    const live = 'seen_at > ? AND created_at > ?';
    this.#find = database.prepare<[Buffer, number, number], SessionRow>(
      `SELECT * FROM sessions WHERE digest = ? AND ${live}`,
    );
    this.#touch = database.prepare<[number, string]>('UPDATE sessions SET seen_at = ? WHERE id = ?');
    this.#list = database.prepare<[string, number, number], SessionRow>(
      `SELECT * FROM sessions WHERE account_id = ? AND ${live} ORDER BY seen_at DESC, rowid DESC`,
    );
    this.#end = database.prepare<[string, string]>('DELETE FROM sessions WHERE account_id = ? AND id = ?');
    this.#endAllBut = database.prepare<[string, string | null]>(
      'DELETE FROM sessions WHERE account_id = ? AND id IS NOT ?',
    );
    this.#sweep = database.prepare<[number, number]>(
      `DELETE FROM sessions WHERE id IN
         (SELECT id FROM sessions WHERE seen_at <= ? OR created_at <= ? LIMIT ${SESSION_SWEEP_LIMIT})`,
    );
  }

  start(accountId: string, method: SessionRow['method'], { browser, address }: ClientInfo): StartedSession {
    this.#crowded.run(accountId, MAX_SESSIONS - 1);
    const token = newToken();
    const now = this.clock();
    const name = printableBrowser(browser);
    const row = this.#insert.get(randomId('ses'), accountId, digestOf(token), method, name, address, now, now);
    if (row === undefined) throw new Error('The session was not written.');
    return { ...toSession(row), token };
  }

  find(digest: Buffer): FoundSession | null {
    const row = this.#find.get(digest, ...this.#earliest());
    return row === undefined ? null : { accountId: row.account_id, session: toSession(row) };
  }

  isTouchDue(session: Session): boolean {
    return isTouchDue(session, this.clock());
  }

  touch({ id }: Session): void {
    this.#touch.run(this.clock(), id);
  }

  list(accountId: string): Session[] {
    return this.#list.all(accountId, ...this.#earliest()).map(toSession);
  }

  end(accountId: string, sessionId: string): boolean {
    return this.#end.run(accountId, sessionId).changes > 0;
  }

  endAllBut(accountId: string, keptId: string | null): number {
    return this.#endAllBut.run(accountId, keptId).changes;
  }

  sweep(): void {
    this.#sweep.run(...this.#earliest());
  }

  /** Last use and beginning that a session must be younger than. */
  #earliest(): [seenAt: number, createdAt: number] {
    return earliestOf(this.clock());
  }
}
