import { randomBytes } from 'node:crypto';
import type Database from 'better-sqlite3';
import { DAY_MS, type Clock } from '../time.js';
import type { IdempotencyState } from '../types.js';

/** Old answers deleted by one call, so that none takes long. */
const SWEEP_LIMIT = 100;

interface RecordRow {
  fingerprint: string;
  status: number | null;
  body: string | null;
}

/** Answers kept under their Idempotency-Key for a day. Callers of begin and complete hold the write transaction. */
export class Idempotency {
  readonly #find;
  readonly #insert;
  readonly #complete;
  readonly #abandon;
  readonly #dropOf;
  readonly #sweep;

  constructor(
    database: Database.Database,
    private readonly clock: Clock,
  ) {
    this.#find = database.prepare<[string, string, number], RecordRow>(
      `SELECT fingerprint, status, body FROM idempotency_records
       WHERE account_id = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?)`,
    );
    // REPLACE: what is in the way has expired.
    this.#insert = database.prepare<[string, string, string, string, string, number]>(
      `INSERT OR REPLACE INTO idempotency_records (token, account_id, key, fingerprint, instance_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#complete = database.prepare<[number, number, string, number, string, string]>(
      `UPDATE idempotency_records SET instance_id = NULL, hold_id = ?, status = ?, body = ?, expires_at = ?
       WHERE token = ? AND account_id = ? AND body IS NULL`,
    );
    this.#abandon = database.prepare<[string]>(
      'DELETE FROM idempotency_records WHERE token = ? AND body IS NULL',
    );
    this.#dropOf = database.prepare<[string]>('DELETE FROM idempotency_records WHERE instance_id = ?');
    this.#sweep = database.prepare<[number]>(
      `DELETE FROM idempotency_records WHERE token IN
         (SELECT token FROM idempotency_records WHERE expires_at <= ? LIMIT ${SWEEP_LIMIT})`,
    );
  }

  knows(accountId: string, key: string): boolean {
    return this.#find.get(accountId, key, this.clock()) !== undefined;
  }

  begin(
    input: { accountId: string; key: string; fingerprint: string },
    instanceId: string,
  ): IdempotencyState {
    const { accountId, key, fingerprint } = input;
    const now = this.clock();
    const known = this.#find.get(accountId, key, now);
    if (known === undefined) {
      const token = randomBytes(16).toString('base64url');
      this.#insert.run(token, accountId, key, fingerprint, instanceId, now);
      return { state: 'new', token };
    }
    if (known.fingerprint !== fingerprint) return { state: 'conflict', reason: 'different_request' };
    if (known.body === null || known.status === null) return { state: 'conflict', reason: 'still_running' };
    return { state: 'replay', response: { status: known.status, body: known.body } };
  }

  /** Stores the answer of a settled hold. */
  complete(token: string, hold: { id: number; account_id: string }, body: string): void {
    const expiresAt = this.clock() + DAY_MS;
    const { changes } = this.#complete.run(hold.id, 200, body, expiresAt, token, hold.account_id);
    if (changes !== 1) throw new Error('The idempotency record of this request is gone or already answered.');
  }

  abandon(token: string): void {
    this.#abandon.run(token);
  }

  /** Forgets what a dead server was working on. */
  dropRunningOf(instanceId: string): number {
    return this.#dropOf.run(instanceId).changes;
  }

  /** Deletes some expired answers; true when there may be more. */
  sweep(): boolean {
    return this.#sweep.run(this.clock()).changes === SWEEP_LIMIT;
  }
}
