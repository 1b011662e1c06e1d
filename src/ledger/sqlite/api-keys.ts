import type Database from 'better-sqlite3';
import { noAccount, refuseSuspended } from '../rows/accounts.js';
import {
  digestOfPresented,
  isKeyOf,
  newKey,
  toIdentity,
  toKey,
  type IdentityRow,
  type KeyRow,
} from '../rows/api-keys.js';
import { readEphemeral, signEphemeral, type NewEphemeral } from '../rows/ephemeral-keys.js';
import { toIso, type WallClock } from '../time.js';
import type { ApiKey, EphemeralIdentity, EphemeralKey, IssuedKey, Identity } from '../types.js';

export class ApiKeys {
  readonly #insert;
  readonly #ofAccount;
  readonly #revoke;
  readonly #byDigest;
  readonly #byId;
  readonly #revoked;
  readonly #touch;
  readonly #revokeScope;
  readonly #anonymize;
  /** Uses not yet written: one transaction every few seconds instead of one a request. */
  #lastUsed = new Map<string, number>();

  constructor(
    private readonly database: Database.Database,
    private readonly secret: () => Buffer,
    private readonly clock: WallClock,
  ) {
    this.#insert = database.prepare<[string, string, string, Buffer, string, number, string], KeyRow>(
      `INSERT INTO api_keys (id, name, prefix, digest, scopes, created_at, account_id)
       SELECT ?, ?, ?, ?, ?, ?, id FROM accounts WHERE id = ? AND deleted_at IS NULL RETURNING *`,
    );
    this.#ofAccount = database.prepare<[string], KeyRow>(
      'SELECT * FROM api_keys WHERE account_id = ? ORDER BY created_at DESC, rowid DESC',
    );
    this.#revoke = database.prepare<[number, string, string], { id: string; revoked_at: number }>(
      `UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE account_id = ? AND id = ?
       RETURNING id, revoked_at`,
    );
    const identity = `SELECT k.*, a.email, a.name AS account_name, a.role AS account_role,
        a.created_at AS account_created_at, a.suspended_at AS account_suspended_at
      FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.revoked_at IS NULL AND`;
    this.#byDigest = database.prepare<[Buffer], IdentityRow>(`${identity} k.digest = ?`);
    this.#byId = database.prepare<[string], IdentityRow>(`${identity} k.id = ?`);
    this.#revoked = database
      .prepare<[string], string>(
        `SELECT k.id FROM api_keys k JOIN accounts a ON a.id = k.account_id
         WHERE coalesce(k.revoked_at, a.suspended_at) IS NOT NULL AND k.id IN (SELECT value FROM json_each(?))`,
      )
      .pluck();
    this.#touch = database.prepare<[number, string]>(
      `UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, 0), ?)
       WHERE id = ? AND (SELECT deleted_at FROM accounts WHERE id = account_id) IS NULL`,
    );
    this.#revokeScope = database.prepare<[number, string, string]>(
      `UPDATE api_keys SET revoked_at = ? WHERE account_id = ? AND revoked_at IS NULL
         AND EXISTS (SELECT 1 FROM json_each(scopes) WHERE value = ?)`,
    );
    this.#anonymize = database.prepare<[number, string]>(
      `UPDATE api_keys SET name = 'deleted', prefix = 'vb_--------', digest = randomblob(32), scopes = '[]',
         last_used_at = NULL, revoked_at = coalesce(revoked_at, ?)
       WHERE account_id = ?`,
    );
  }

  create(input: { accountId: string; name: string; scopes: readonly string[] }): IssuedKey {
    const { id, name, prefix, digest, scopes, rawKey } = newKey(input, this.secret);
    const row = this.#insert.get(id, name, prefix, digest, scopes, this.clock(), input.accountId);
    if (row === undefined) throw noAccount(input.accountId);
    return { ...this.#toKey(row), rawKey };
  }

  list(accountId: string): ApiKey[] {
    return this.#ofAccount.all(accountId).map((row) => this.#toKey(row));
  }

  revoke(accountId: string, keyId: string): { id: string; revokedAt: string } | null {
    const row = this.#revoke.get(this.clock(), accountId, keyId);
    return row === undefined ? null : { id: row.id, revokedAt: toIso(row.revoked_at) };
  }

  revokeWithScope(accountId: string, scope: string): void {
    this.#revokeScope.run(this.clock(), accountId, scope);
  }

  /** Of a deleted account: what its usage refers to stays, without a name and without access. */
  anonymizeAllOf(accountId: string): void {
    this.#anonymize.run(this.clock(), accountId);
  }

  authenticate(rawKey: string): Identity | null {
    const digest = digestOfPresented(rawKey, this.secret);
    const row = digest === null ? undefined : this.#byDigest.get(digest);
    return digest === null || row === undefined || !isKeyOf(row, digest) ? null : this.#used(row);
  }

  createEphemeral({ keyId, seconds, session }: NewEphemeral): EphemeralKey {
    const expiresAt = this.clock() + seconds * 1000;
    return { rawKey: signEphemeral({ keyId, expiresAt, session }, this.secret()), expiresAt };
  }

  authenticateEphemeral(rawKey: string): EphemeralIdentity | null {
    const grant = readEphemeral(rawKey, this.secret, this.clock());
    const row = grant === null ? undefined : this.#byId.get(grant.keyId);
    return grant === null || row === undefined ? null : { ...this.#used(row), session: grant.session };
  }

  revokedAmong(keyIds: readonly string[]): string[] {
    return keyIds.length === 0 ? [] : this.#revoked.all(JSON.stringify(keyIds));
  }

  /** Writes the uses seen since the last call; keeps them when the database is busy. */
  flushLastUsed(): void {
    if (this.#lastUsed.size === 0) return;
    this.database
      .transaction(() => {
        for (const [id, time] of this.#lastUsed) this.#touch.run(time, id);
      })
      .immediate();
    this.#lastUsed = new Map();
  }

  #used(row: IdentityRow): Identity {
    refuseSuspended({ suspended_at: row.account_suspended_at });
    const now = this.clock();
    this.#lastUsed.set(row.id, now);
    return toIdentity(row, now);
  }

  #toKey(row: KeyRow): ApiKey {
    return toKey(row, this.#lastUsed.get(row.id));
  }
}
