import type Database from 'better-sqlite3';
import { noAccount } from '../rows/accounts.js';
import {
  checkGrant,
  checkNote,
  checkPayment,
  insufficient,
  samePayment,
  toPack,
  withAmounts,
  type PackRow,
} from '../rows/packs.js';
import type { WallClock } from '../time.js';
import type { Balance, CreditPack, Grant, GrantedPack, PackAmounts } from '../types.js';

/** Credits of one pack, set aside or to be charged. */
export interface PackPart {
  pack_id: number;
  credits: number;
}

/** Packs of an account, spent in the order of their expiry, then age. Callers hold the write transaction. */
export class Credits {
  readonly #insert;
  readonly #ofPayment;
  readonly #forfeit;
  readonly #balance;
  readonly #list;
  readonly #expire;
  readonly #spendable;
  readonly #hold;
  readonly #settle;

  constructor(
    database: Database.Database,
    private readonly clock: WallClock,
  ) {
    this.#insert = database.prepare<
      [number, number, number, number | null, string | null, string | null, string],
      PackRow
    >(
      `INSERT INTO credit_packs (purchased, remaining, created_at, expires_at, payment_id, note, account_id)
       SELECT ?, ?, ?, ?, ?, ?, id FROM accounts WHERE id = ? AND deleted_at IS NULL RETURNING *`,
    );
    this.#ofPayment = database.prepare<[string], PackRow>('SELECT * FROM credit_packs WHERE payment_id = ?');
    // Holds return their credits to a pack that has expired.
    this.#forfeit = database.prepare<{ account: string; now: number }>(
      `UPDATE credit_packs SET expired = expired + remaining, remaining = 0,
         expires_at = min(coalesce(expires_at, @now), @now)
       WHERE account_id = @account AND remaining + held > 0`,
    );
    this.#balance = database.prepare<[string, number, string], Balance>(
      `SELECT (SELECT coalesce(sum(remaining), 0) FROM credit_packs
                WHERE account_id = ? AND remaining > 0 AND (expires_at IS NULL OR expires_at > ?)) AS balance,
              (SELECT coalesce(sum(purchased), 0) FROM credit_packs WHERE account_id = ?) AS lifetimePurchased`,
    );
    this.#list = database.prepare<{ account: string; now: number; empty: number }, PackRow & PackAmounts>(
      `SELECT id, account_id, purchased, held, spent, created_at, expires_at, payment_id, note,
         iif(expires_at <= @now, 0, remaining) AS remaining,
         expired + iif(expires_at <= @now, remaining, 0) AS expired
       FROM credit_packs WHERE account_id = @account AND (remaining + held > 0 OR id IN (
         SELECT id FROM credit_packs WHERE account_id = @account AND remaining + held = 0
         ORDER BY created_at DESC, id DESC LIMIT @empty))
       ORDER BY remaining + held = 0, iif(remaining + held = 0, -created_at, 0),
         expires_at IS NULL, expires_at, created_at, id`,
    );
    this.#expire = database.prepare<[string, number]>(
      `UPDATE credit_packs SET expired = expired + remaining, remaining = 0
       WHERE account_id = ? AND remaining > 0 AND expires_at <= ?`,
    );
    this.#spendable = database.prepare<[string], PackRow>(
      `SELECT * FROM credit_packs WHERE account_id = ? AND remaining > 0
       ORDER BY expires_at IS NULL, expires_at, created_at, id`,
    );
    this.#hold = database.prepare<[number, number, number]>(
      'UPDATE credit_packs SET remaining = remaining - ?, held = held + ? WHERE id = ?',
    );
    this.#settle = database.prepare<{ id: number; held: number; charged: number; now: number }>(
      `UPDATE credit_packs SET held = held - @held, spent = spent + @charged,
         remaining = remaining + iif(expires_at <= @now, 0, @held - @charged),
         expired = expired + iif(expires_at <= @now, @held - @charged, 0)
       WHERE id = @id`,
    );
  }

  grant(input: Grant): GrantedPack {
    const { accountId, amount, paymentId = null, note = null } = input;
    const known = paymentId === null ? undefined : this.#ofPayment.get(checkPayment(paymentId));
    if (known !== undefined) return { ...samePayment(known, input), repeated: true };
    const now = this.clock();
    const expiresAt = checkGrant(input, now);
    const row = this.#insert.get(amount, amount, now, expiresAt, paymentId, checkNote(note), accountId);
    if (row === undefined) throw noAccount(accountId);
    return { ...toPack(row), repeated: false };
  }

  /** The account's remaining credits expire now. */
  forfeit(accountId: string): void {
    this.#forfeit.run({ account: accountId, now: this.clock() });
  }

  list(accountId: string, emptyOnes: number): (CreditPack & PackAmounts)[] {
    const rows = this.#list.all({ account: accountId, now: this.clock(), empty: emptyOnes });
    return rows.map(withAmounts);
  }

  balance(accountId: string): Balance {
    return this.#balance.get(accountId, this.clock(), accountId) ?? { balance: 0, lifetimePurchased: 0 };
  }

  /** Takes `credits` out of the account's packs, or throws and takes nothing. */
  take(accountId: string, credits: number): PackPart[] {
    this.#expire.run(accountId, this.clock());
    const parts: PackPart[] = [];
    let missing = credits;
    for (const pack of missing > 0 ? this.#spendable.iterate(accountId) : []) {
      const taken = Math.min(pack.remaining, missing);
      parts.push({ pack_id: pack.id, credits: taken });
      missing -= taken;
      if (missing === 0) break;
    }
    if (missing > 0) throw insufficient(credits, credits - missing);
    for (const part of parts) this.#hold.run(part.credits, part.credits, part.pack_id);
    return parts;
  }

  /** Ends a hold's part: `charged` of it is spent, the rest goes back, or is lost if the pack has expired. */
  finish(part: PackPart, charged: number): void {
    this.#settle.run({ id: part.pack_id, held: part.credits, charged, now: this.clock() });
  }
}
