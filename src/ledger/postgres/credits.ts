import { noAccount } from '../rows/accounts.js';
import { checkGrant, checkNote, checkPayment, samePayment, toPack, withAmounts, type PackRow } from '../rows/packs.js';
import type { CreditLedger } from '../ledger.js';
import type { WallClock } from '../time.js';
import type { Balance, CreditPack, Grant, GrantedPack, PackAmounts } from '../types.js';
import type { Querying } from './connections.js';
import type { Statements } from './statements.js';

/** Packs of an account, as they are granted and listed; the functions of the database hold and spend them. */
export class PostgresCredits implements CreditLedger {
  constructor(
    private readonly statements: Statements,
    private readonly clock: WallClock,
  ) {}

  async grant(input: Grant): Promise<GrantedPack> {
    const { paymentId = null } = input;
    if (paymentId === null) {
      const pack = await this.insert((sql, values) => this.statements.once(sql, values), input);
      return { ...pack, repeated: false };
    }
    checkPayment(paymentId);
    return this.statements.transaction((query) => this.#grantOnce(query, input, paymentId), {
      repeatable: true,
    });
  }

  /** Of two that come at once the later waits at the lock, and finds the pack of the other. */
  async #grantOnce(query: Querying, input: Grant, paymentId: string): Promise<GrantedPack> {
    await query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`payment ${paymentId}`]);
    const [known] = await query<PackRow>('SELECT * FROM credit_packs WHERE payment_id = $1', [paymentId]);
    if (known !== undefined) return { ...samePayment(known, input), repeated: true };
    return { ...(await this.insert(query, input)), repeated: false };
  }

  /** Also in a transaction of the caller's. */
  async insert(query: Querying, input: Grant): Promise<CreditPack> {
    const now = this.clock();
    const expiresAt = checkGrant(input, now);
    const [row] = await query<PackRow>(
      `INSERT INTO credit_packs (purchased, remaining, created_at, expires_at, account_id, payment_id, note)
       SELECT $1, $1, $2, $3, id, $5, $6 FROM accounts WHERE id = $4 AND deleted_at IS NULL RETURNING *`,
      [input.amount, now, expiresAt, input.accountId, input.paymentId ?? null, checkNote(input.note ?? null)],
    );
    if (row === undefined) throw noAccount(input.accountId);
    return toPack(row);
  }

  async balance(accountId: string): Promise<Balance> {
    const [row] = await this.statements.repeatable<{ balance: number; purchased: number }>(
      `SELECT balance_of($1, $2) AS balance,
         (SELECT coalesce(sum(purchased), 0)::bigint FROM credit_packs WHERE account_id = $1) AS purchased`,
      [accountId, this.clock()],
    );
    return { balance: row?.balance ?? 0, lifetimePurchased: row?.purchased ?? 0 };
  }

  async packs(accountId: string, emptyOnes: number): Promise<(CreditPack & PackAmounts)[]> {
    const rows = await this.statements.repeatable<PackRow & PackAmounts>(
      `SELECT id, account_id, purchased, held, spent, created_at, expires_at, payment_id, note,
         CASE WHEN expires_at <= $2 THEN 0 ELSE remaining END AS remaining,
         expired + CASE WHEN expires_at <= $2 THEN remaining ELSE 0 END AS expired
       FROM credit_packs pack WHERE account_id = $1 AND (pack.remaining + held > 0 OR id IN (
         SELECT id FROM credit_packs empty WHERE account_id = $1 AND remaining + held = 0
         ORDER BY created_at DESC, id DESC LIMIT $3))
       ORDER BY pack.remaining + held = 0, CASE WHEN pack.remaining + held = 0 THEN -created_at ELSE 0 END,
         expires_at, created_at, id`,
      [accountId, this.clock(), emptyOnes],
    );
    return rows.map(withAmounts);
  }
}
