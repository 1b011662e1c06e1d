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
import type { KeyLedger } from '../ledger.js';
import { toIso, type WallClock } from '../time.js';
import type { ApiKey, EphemeralIdentity, EphemeralKey, Identity, IssuedKey } from '../types.js';
import { REVOKED_CHANNEL, type Revocations } from './revocations.js';
import type { Querying } from './connections.js';
import type { Statements } from './statements.js';

/** Of a key that is not revoked. */
const IDENTITY = `SELECT k.*, a.email, a.name AS account_name, a.role AS account_role,
    a.created_at AS account_created_at, a.suspended_at AS account_suspended_at
  FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.revoked_at IS NULL AND`;

export class PostgresKeys implements KeyLedger {
  /** Uses not yet written. */
  #lastUsed = new Map<string, number>();

  constructor(
    private readonly statements: Statements,
    /** Throws an Error where there is no secret, or another one than the keys were made with. */
    private readonly secret: () => Promise<Buffer>,
    private readonly revocations: Revocations,
    private readonly clock: WallClock,
  ) {}

  create(input: { accountId: string; name: string; scopes: readonly string[] }): Promise<IssuedKey> {
    return this.insert((sql, values) => this.statements.once(sql, values), input);
  }

  /** Also in a transaction of the caller's. */
  async insert(
    query: Querying,
    input: { accountId: string; name: string; scopes: readonly string[] },
  ): Promise<IssuedKey> {
    const secret = await this.secret();
    const { id, name, prefix, digest, scopes, rawKey } = newKey(input, () => secret);
    const [row] = await query<KeyRow>(
      `INSERT INTO api_keys (id, name, prefix, digest, scopes, created_at, account_id)
       SELECT $1, $2, $3, $4, $5, $6, id FROM accounts WHERE id = $7 AND deleted_at IS NULL RETURNING *`,
      [id, name, prefix, digest, scopes, this.clock(), input.accountId],
    );
    if (row === undefined) throw noAccount(input.accountId);
    return { ...this.toKey(row), rawKey };
  }

  async list(accountId: string): Promise<ApiKey[]> {
    const rows = await this.statements.repeatable<KeyRow>(
      'SELECT * FROM api_keys WHERE account_id = $1 ORDER BY created_at DESC, place DESC',
      [accountId],
    );
    return rows.map((row) => this.toKey(row));
  }

  /** Servers are notified when it is committed. */
  async revoke(accountId: string, keyId: string): Promise<{ id: string; revokedAt: string } | null> {
    const [row] = await this.statements.repeatable<{ id: string; revoked_at: number }>(
      `WITH revoked AS (UPDATE api_keys SET revoked_at = coalesce(revoked_at, $1) WHERE account_id = $2 AND id = $3
         RETURNING id, revoked_at)
       SELECT id, revoked_at, pg_notify('${REVOKED_CHANNEL}', id) FROM revoked`,
      [this.clock(), accountId, keyId],
    );
    return row === undefined ? null : { id: row.id, revokedAt: toIso(row.revoked_at) };
  }

  /** In a transaction of the caller's. */
  async revokeWithScope(query: Querying, accountId: string, scope: string): Promise<void> {
    await query(
      `WITH revoked AS (UPDATE api_keys SET revoked_at = $1
         WHERE account_id = $2 AND revoked_at IS NULL AND scopes::jsonb ? $3 RETURNING id)
       SELECT pg_notify('${REVOKED_CHANNEL}', id) FROM revoked`,
      [this.clock(), accountId, scope],
    );
  }

  async authenticate(rawKey: string): Promise<Identity | null> {
    const secret = await this.secret();
    const digest = digestOfPresented(rawKey, () => secret);
    if (digest === null) return null;
    const [row] = await this.statements.repeatable<IdentityRow>(`${IDENTITY} k.digest = $1`, [digest]);
    return row === undefined || !isKeyOf(row, digest) ? null : this.#used(row);
  }

  async createEphemeral({ keyId, seconds, session }: NewEphemeral): Promise<EphemeralKey> {
    const secret = await this.secret();
    const expiresAt = this.clock() + seconds * 1000;
    return { rawKey: signEphemeral({ keyId, expiresAt, session }, secret), expiresAt };
  }

  async authenticateEphemeral(rawKey: string): Promise<EphemeralIdentity | null> {
    const secret = await this.secret();
    const grant = readEphemeral(rawKey, () => secret, this.clock());
    if (grant === null) return null;
    const [row] = await this.statements.repeatable<IdentityRow>(`${IDENTITY} k.id = $1`, [grant.keyId]);
    return row === undefined ? null : { ...this.#used(row), session: grant.session };
  }

  async revokedAmong(keyIds: readonly string[]): Promise<string[]> {
    if (keyIds.length === 0) return [];
    const rows = await this.statements.repeatable<{ id: string }>(
      `SELECT k.id FROM api_keys k JOIN accounts a ON a.id = k.account_id
       WHERE coalesce(k.revoked_at, a.suspended_at) IS NOT NULL AND k.id = ANY ($1)`,
      [keyIds],
    );
    return rows.map(({ id }) => id);
  }

  onRevoked(listener: (keyId: string) => void): () => void {
    return this.revocations.listen(listener);
  }

  /** Writes the uses seen since the last call; keeps them when that fails. */
  async flushLastUsed(): Promise<void> {
    const used = this.#lastUsed;
    if (used.size === 0) return;
    // Locked in order, since other servers write theirs at the same time.
    await this.statements.repeatable(
      `WITH used AS (SELECT k.id, u.time FROM api_keys k
         JOIN unnest($1::text[], $2::bigint[]) AS u (id, time) ON u.id = k.id
         WHERE (SELECT deleted_at FROM accounts WHERE accounts.id = k.account_id) IS NULL ORDER BY k.id
           FOR NO KEY UPDATE OF k)
       UPDATE api_keys SET last_used_at = greatest(last_used_at, used.time) FROM used WHERE api_keys.id = used.id`,
      [[...used.keys()], [...used.values()]],
    );
    for (const [id, time] of used) if (this.#lastUsed.get(id) === time) this.#lastUsed.delete(id);
  }

  #used(row: IdentityRow): Identity {
    refuseSuspended({ suspended_at: row.account_suspended_at });
    const now = this.clock();
    this.#lastUsed.set(row.id, now);
    return toIdentity(row, now);
  }

  toKey(row: KeyRow): ApiKey {
    return toKey(row, this.#lastUsed.get(row.id));
  }
}
