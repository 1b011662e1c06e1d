import { randomBytes } from 'node:crypto';
import type Database from 'better-sqlite3';
import { DAY_MS, type WallClock } from '../time.js';
import type { IdempotencyState, JsonValue, StoredAnswer } from '../types.js';

/** Old answers deleted by one call, so that none takes long. */
const SWEEP_LIMIT = 100;

interface RecordRow {
  fingerprint: string;
  /** 1 while its request runs. */
  running: number;
  result: string | null;
  credits_used: number | null;
  credits_remaining: number | null;
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
    private readonly clock: WallClock,
  ) {
    this.#find = database.prepare<[string, string, number], RecordRow>(
      `SELECT record.fingerprint, record.hold_id IS NULL AS running, record.result, record.credits_remaining,
         record.body, event.credits AS credits_used
       FROM idempotency_records record LEFT JOIN usage_events event ON event.hold_id = record.hold_id
       WHERE record.account_id = ? AND record.key = ? AND (record.expires_at IS NULL OR record.expires_at > ?)`,
    );
    // REPLACE: what is in the way has expired.
    this.#insert = database.prepare<[string, string, string, string, string, number]>(
      `INSERT OR REPLACE INTO idempotency_records (token, account_id, key, fingerprint, instance_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#complete = database.prepare<[number, string, number, number, string, string]>(
      `UPDATE idempotency_records
       SET instance_id = NULL, hold_id = ?, result = ?, credits_remaining = ?, expires_at = ?
       WHERE token = ? AND account_id = ? AND hold_id IS NULL`,
    );
    this.#abandon = database.prepare<[string]>(
      'DELETE FROM idempotency_records WHERE token = ? AND hold_id IS NULL',
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
    if (known.running === 1) return { state: 'conflict', reason: 'still_running' };
    return { state: 'replay', answer: toAnswer(known) };
  }

  /** Stores the answer of a settled hold. */
  complete(
    token: string,
    hold: { id: number; account_id: string },
    answer: { result: JsonValue; creditsRemaining: number },
  ): void {
    const { changes } = this.#complete.run(
      hold.id,
      JSON.stringify(answer.result),
      answer.creditsRemaining,
      this.clock() + DAY_MS,
      token,
      hold.account_id,
    );
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

function toAnswer(row: RecordRow): StoredAnswer {
  const { result, credits_used: creditsUsed, credits_remaining: creditsRemaining, body } = row;
  if (body !== null) return { kind: 'body', body };
  if (result === null || creditsUsed === null || creditsRemaining === null) {
    throw new Error('A stored answer is damaged; run: verbatim accounts audit');
  }
  return {
    kind: 'result',
    result: JSON.parse(result) as JsonValue,
    charge: { creditsUsed, creditsRemaining },
  };
}
