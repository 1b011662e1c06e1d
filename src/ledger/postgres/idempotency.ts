import { randomBytes } from 'node:crypto';
import { toAnswer, type AnswerRow } from '../rows/answers.js';
import type { IdempotencyLedger } from '../ledger.js';
import type { WallClock } from '../time.js';
import type { DerivedState, IdempotencyState, UnkeyedRequest } from '../types.js';
import type { PostgresInstance } from './instance.js';
import type { PostgresDeferredUndo } from './deferred-undo.js';
import type { Statements } from './statements.js';
import { isUnreachable } from './database-failure.js';

/** Old answers deleted by one call, so that none takes long. */
const SWEEP_LIMIT = 1_000;

interface KnownRow extends AnswerRow {
  token: string;
  /** null while its request runs. */
  expires_at: number | null;
}

const KNOWN = 'SELECT record.*, event.credits AS credits_used FROM';
const CHARGED = 'LEFT JOIN usage_events event ON event.hold_id = record.hold_id';

/** Answers kept for a repeat: a day under their Idempotency-Key, ten minutes under a derived one. */
export class PostgresIdempotency implements IdempotencyLedger {
  constructor(
    private readonly statements: Statements,
    private readonly instance: PostgresInstance,
    private readonly deferred: PostgresDeferredUndo,
    private readonly clock: WallClock,
  ) {}

  async has(accountId: string, key: string): Promise<boolean> {
    const rows = await this.statements.repeatable(
      `SELECT 1 FROM idempotency_records WHERE account_id = $1 AND key = $2 AND (expires_at IS NULL OR expires_at ` +
        `> $3)`,
      [accountId, key, this.clock()],
    );
    return rows.length > 0;
  }

  async begin(input: { accountId: string; key: string; fingerprint: string }): Promise<IdempotencyState> {
    const { accountId, key, fingerprint } = input;
    const token = newRecordToken();
    const [known] = await this.#begun(token, (instance) =>
      this.statements.repeatable<KnownRow>(`${KNOWN} begin_answer($1, $2, $3, $4, $5, $6) record ${CHARGED}`, [
        token,
        accountId,
        key,
        fingerprint,
        instance,
        this.clock(),
      ]),
    );
    if (known === undefined) return { state: 'new', token };
    if (known.fingerprint !== fingerprint) return { state: 'conflict', reason: 'different_request' };
    if (known.expires_at === null) return { state: 'conflict', reason: 'still_running' };
    if (known.deleted_at !== null) return { state: 'conflict', reason: 'deleted' };
    return { state: 'replay', answer: toAnswer(known) };
  }

  async beginDerived(
    { accountId, fingerprint, retried }: UnkeyedRequest,
    busy: readonly string[],
  ): Promise<DerivedState> {
    const token = newRecordToken();
    const [known] = await this.#begun(token, (instance) =>
      this.statements.repeatable<KnownRow>(
        `${KNOWN} begin_derived_answer($1, $2, $3, $4, $5, $6, $7) record ${CHARGED}`,
        [token, accountId, fingerprint, retried, busy, instance, this.clock()],
      ),
    );
    if (known === undefined) return { state: 'new', token };
    return { state: 'replay', token: known.token, answer: toAnswer(known) };
  }

  async mayBeRepeated(accountId: string, retried: boolean): Promise<boolean> {
    const which = retried ? '' : 'AND delivered_at IS NULL';
    const rows = await this.statements.repeatable(
      `SELECT 1 FROM idempotency_records WHERE derived ${which} AND account_id = $1 AND expires_at > $2 LIMIT 1`,
      [accountId, this.clock()],
    );
    return rows.length > 0;
  }

  noteDelivery(token: string, delivered: boolean): Promise<void> {
    const deliveredAt = delivered ? this.clock() : null;
    return this.deferred.undo(async () => {
      await this.statements.promptly(
        'UPDATE idempotency_records SET delivered_at = $1 WHERE token = $2 AND hold_id IS NOT NULL',
        [deliveredAt, token],
      );
    });
  }

  abandon(token: string): Promise<void> {
    return this.deferred.undo(() => this.#delete(token));
  }

  /** Deletes some expired answers; true when there may be more. */
  async sweep(): Promise<boolean> {
    const rows = await this.statements.repeatable(
      `DELETE FROM idempotency_records WHERE token IN (SELECT token FROM idempotency_records WHERE expires_at <= $1
         ORDER BY token LIMIT ${SWEEP_LIMIT} FOR UPDATE SKIP LOCKED) RETURNING 1`,
      [this.clock()],
    );
    return rows.length === SWEEP_LIMIT;
  }

  async #begun<T>(token: string, work: (instance: string) => Promise<T>): Promise<T> {
    try {
      return await this.instance.alive(work);
    } catch (error) {
      // The record may have been made although no answer came, now or later.
      if (isUnreachable(error)) this.deferred.forAWhile(() => this.#delete(token));
      throw error;
    }
  }

  async #delete(token: string): Promise<void> {
    await this.statements.promptly('DELETE FROM idempotency_records WHERE token = $1 AND expires_at IS NULL', [token]);
  }
}

function newRecordToken(): string {
  return randomBytes(16).toString('base64url');
}
