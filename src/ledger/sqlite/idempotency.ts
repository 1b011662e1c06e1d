import { randomBytes } from 'node:crypto';
import type Database from 'better-sqlite3';
import { DAY_MS, type WallClock } from '../time.js';
import { textOfJson, type JsonText } from '../json.js';
import { DERIVED_MS, recordGone, toAnswer, type AnswerRow } from '../rows/answers.js';
import type { DerivedState, IdempotencyState, UnkeyedRequest } from '../types.js';
import type { JsonValue } from '../json.js';

/** Old answers deleted by one call, so that none takes long. */
const SWEEP_LIMIT = 100;
interface RecordRow extends AnswerRow {
  /** 1 while its request runs. */
  running: number;
}

interface DerivedRow extends RecordRow {
  token: string;
}

/** An account may have thousands that were delivered; those that were not, few, have an index of their own. */
const hasDerived = (which: string): string =>
  `SELECT 1 FROM idempotency_records
   WHERE derived = 1 AND ${which} AND account_id = ? AND expires_at > ? LIMIT 1`;

const foundDerived = (which: string, order: string): string =>
  `SELECT record.token, record.fingerprint, 0 AS running, record.result, record.credits_remaining, record.body,
     record.job_id, record.deleted_at, event.credits AS credits_used
   FROM idempotency_records record JOIN usage_events event ON event.hold_id = record.hold_id
   WHERE record.derived = 1 AND ${which} AND record.account_id = ? AND record.fingerprint = ? AND record.expires_at > ?
     AND record.token NOT IN (SELECT value FROM json_each(?))
   ${order} LIMIT 1`;

/**
 * Answers kept for a repeat: a day under their Idempotency-Key, ten minutes under a derived one. Callers of what writes
 * hold the write transaction.
 */
export class Idempotency {
  readonly #find;
  readonly #findDerived;
  readonly #findUndelivered;
  readonly #hasDerived;
  readonly #hasUndelivered;
  readonly #insert;
  readonly #insertDerived;
  readonly #complete;
  readonly #accept;
  readonly #abandon;
  readonly #withdraw;
  readonly #deliver;
  readonly #dropOf;
  readonly #sweep;

  constructor(
    database: Database.Database,
    private readonly clock: WallClock,
  ) {
    this.#find = database.prepare<[string, string, number], RecordRow>(
      `SELECT record.fingerprint, record.expires_at IS NULL AS running, record.result, record.credits_remaining,
         record.body, record.job_id, record.deleted_at, event.credits AS credits_used
       FROM idempotency_records record LEFT JOIN usage_events event ON event.hold_id = record.hold_id
       WHERE record.account_id = ? AND record.key = ? AND (record.expires_at IS NULL OR record.expires_at > ?)`,
    );
    // Answers that were not delivered go first.
    this.#findDerived = database.prepare<[string, string, number, string], DerivedRow>(
      foundDerived('1', 'ORDER BY record.delivered_at IS NOT NULL, record.hold_id DESC'),
    );
    this.#findUndelivered = database.prepare<[string, string, number, string], DerivedRow>(
      foundDerived('record.delivered_at IS NULL', 'ORDER BY record.hold_id DESC'),
    );
    this.#hasDerived = database.prepare<[string, number], number>(hasDerived('1'));
    this.#hasUndelivered = database.prepare<[string, number], number>(hasDerived('delivered_at IS NULL'));
    // REPLACE: what is in the way has expired.
    this.#insert = database.prepare<[string, string, string, string, string, number]>(
      `INSERT OR REPLACE INTO idempotency_records (token, account_id, key, fingerprint, instance_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#insertDerived = database.prepare<[string, string, string, string, string, number]>(
      `INSERT INTO idempotency_records (token, account_id, key, fingerprint, instance_id, created_at, derived)
       VALUES (?, ?, ?, ?, ?, ?, 1)`,
    );
    this.#complete = database.prepare<[number, string, number, number, string, string]>(
      `UPDATE idempotency_records
       SET instance_id = NULL, hold_id = ?, result = ?, credits_remaining = ?,
         expires_at = ? + iif(derived = 1, ${DERIVED_MS}, ${DAY_MS})
       WHERE token = ? AND account_id = ? AND expires_at IS NULL`,
    );
    this.#accept = database.prepare<[string, string, number, string, string]>(
      `UPDATE idempotency_records
       SET instance_id = NULL, job_id = ?, result = ?, expires_at = ? + ${DAY_MS}
       WHERE token = ? AND account_id = ? AND expires_at IS NULL`,
    );
    this.#abandon = database.prepare<[string]>(
      'DELETE FROM idempotency_records WHERE token = ? AND expires_at IS NULL',
    );
    this.#withdraw = database.prepare<[string]>('DELETE FROM idempotency_records WHERE token = ?');
    this.#deliver = database.prepare<[number | null, string]>(
      'UPDATE idempotency_records SET delivered_at = ? WHERE token = ? AND hold_id IS NOT NULL',
    );
    this.#dropOf = database.prepare<[string]>('DELETE FROM idempotency_records WHERE instance_id = ?');
    this.#sweep = database.prepare<[number]>(
      `DELETE FROM idempotency_records WHERE token IN
         (SELECT token FROM idempotency_records WHERE expires_at <= ? LIMIT ${SWEEP_LIMIT})`,
    );
  }

  has(accountId: string, key: string): boolean {
    return this.#find.get(accountId, key, this.clock()) !== undefined;
  }

  begin(input: { accountId: string; key: string; fingerprint: string }, instanceId: string): IdempotencyState {
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
    if (known.deleted_at !== null) return { state: 'conflict', reason: 'deleted' };
    return { state: 'replay', answer: toAnswer(known) };
  }

  /** `busy`: tokens of answers that are on their way. */
  beginDerived(
    { accountId, fingerprint, retried }: UnkeyedRequest,
    busy: readonly string[],
    instanceId: string,
  ): DerivedState {
    const now = this.clock();
    const find = retried ? this.#findDerived : this.#findUndelivered;
    const known = find.get(accountId, fingerprint, now, JSON.stringify(busy));
    if (known !== undefined) return { state: 'replay', token: known.token, answer: toAnswer(known) };
    const token = randomBytes(16).toString('base64url');
    // A key that no client can guess: it is found by its fingerprint.
    this.#insertDerived.run(token, accountId, token, fingerprint, instanceId, now);
    return { state: 'new', token };
  }

  mayBeRepeated(accountId: string, retried: boolean): boolean {
    const has = retried ? this.#hasDerived : this.#hasUndelivered;
    return has.get(accountId, this.clock()) !== undefined;
  }

  noteDelivery(token: string, delivered: boolean): void {
    this.#deliver.run(delivered ? this.clock() : null, token);
  }

  /** Stores the answer of a settled hold. */
  complete(
    token: string,
    hold: { id: number; account_id: string },
    answer: { result: JsonValue | JsonText; creditsRemaining: number },
  ): void {
    const { changes } = this.#complete.run(
      hold.id,
      textOfJson(answer.result),
      answer.creditsRemaining,
      this.clock(),
      token,
      hold.account_id,
    );
    if (changes !== 1) throw recordGone('request');
  }

  /** Stores the answer for a repeat of the request for a job. The charge comes when the job is done. */
  accept(token: string, { id, accountId }: { id: string; accountId: string }, ticket: string): void {
    const { changes } = this.#accept.run(id, ticket, this.clock(), token, accountId);
    if (changes !== 1) throw recordGone('job');
  }

  /** Of a job that was accepted, and is not any more. */
  withdraw(token: string): void {
    this.#withdraw.run(token);
  }

  abandon(token: string): void {
    this.#abandon.run(token);
  }

  /** Deletes the records of requests that a dead server was working on. */
  dropRunningOf(instanceId: string): number {
    return this.#dropOf.run(instanceId).changes;
  }

  /** Deletes some expired answers; true when there may be more. */
  sweep(): boolean {
    return this.#sweep.run(this.clock()).changes === SWEEP_LIMIT;
  }
}
