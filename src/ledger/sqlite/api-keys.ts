import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type Database from 'better-sqlite3';
import { VerbatimError } from '../../errors.js';
import { toAccount, type AccountRow } from './accounts.js';
import type { Role } from '../access/types.js';
import { randomId } from '../ids.js';
import { SCOPES } from '../scopes.js';
import { lengthOf, UNPRINTABLE } from '../text.js';
import { toIso, toIsoOrNull, type WallClock } from '../time.js';
import type { ApiKey, IssuedKey, Identity } from '../types.js';

const RAW_KEY = /^vb_[A-Za-z0-9_-]{43}$/;
const PREFIX_LENGTH = 11;
const MAX_NAME_LENGTH = 100;

interface KeyRow {
  id: string;
  account_id: string;
  name: string;
  prefix: string;
  digest: Buffer;
  scopes: string;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
}

interface IdentityRow extends KeyRow {
  email: string;
  account_name: string | null;
  account_role: Role;
  account_created_at: number;
}

export class ApiKeys {
  readonly #insert;
  readonly #ofAccount;
  readonly #revoke;
  readonly #byDigest;
  readonly #revoked;
  readonly #touch;
  /** Uses not yet written: one transaction every few seconds instead of one a request. */
  #lastUsed = new Map<string, number>();

  constructor(
    private readonly database: Database.Database,
    private readonly secret: () => Buffer,
    private readonly clock: WallClock,
  ) {
    this.#insert = database.prepare<[string, string, string, Buffer, string, number, string], KeyRow>(
      `INSERT INTO api_keys (id, name, prefix, digest, scopes, created_at, account_id)
       SELECT ?, ?, ?, ?, ?, ?, id FROM accounts WHERE id = ? RETURNING *`,
    );
    this.#ofAccount = database.prepare<[string], KeyRow>(
      'SELECT * FROM api_keys WHERE account_id = ? ORDER BY created_at DESC, rowid DESC',
    );
    this.#revoke = database.prepare<[number, string, string], { id: string; revoked_at: number }>(
      `UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE account_id = ? AND id = ?
       RETURNING id, revoked_at`,
    );
    this.#byDigest = database.prepare<[Buffer], IdentityRow>(
      `SELECT k.*, a.email, a.name AS account_name, a.role AS account_role, a.created_at AS account_created_at
       FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.digest = ? AND k.revoked_at IS NULL`,
    );
    this.#revoked = database
      .prepare<[string], string>(
        `SELECT id FROM api_keys WHERE revoked_at IS NOT NULL AND id IN (SELECT value FROM json_each(?))`,
      )
      .pluck();
    this.#touch = database.prepare<[number, string]>(
      'UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?',
    );
  }

  create(input: { accountId: string; name: string; scopes: readonly string[] }): IssuedKey {
    const scopes = checkScopes(input.scopes);
    const name = checkName(input.name);
    const rawKey = `vb_${randomBytes(32).toString('base64url')}`;
    const row = this.#insert.get(
      randomId('key'),
      name,
      rawKey.slice(0, PREFIX_LENGTH),
      this.#digest(rawKey),
      JSON.stringify(scopes),
      this.clock(),
      input.accountId,
    );
    if (row === undefined) throw new VerbatimError('not_found', `There is no account ${input.accountId}.`);
    return { ...this.#toKey(row), rawKey };
  }

  list(accountId: string): ApiKey[] {
    return this.#ofAccount.all(accountId).map((row) => this.#toKey(row));
  }

  revoke(accountId: string, keyId: string): { id: string; revokedAt: string } | null {
    const row = this.#revoke.get(this.clock(), accountId, keyId);
    return row === undefined ? null : { id: row.id, revokedAt: toIso(row.revoked_at) };
  }

  authenticate(rawKey: string): Identity | null {
    if (!RAW_KEY.test(rawKey)) return null;
    const digest = this.#digest(rawKey);
    const row = this.#byDigest.get(digest);
    if (row === undefined || !timingSafeEqual(row.digest, digest)) return null;
    this.#lastUsed.set(row.id, this.clock());
    const account: AccountRow = {
      id: row.account_id,
      email: row.email,
      name: row.account_name,
      role: row.account_role,
      created_at: row.account_created_at,
    };
    return { account: toAccount(account), key: this.#toKey(row) };
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

  #digest(rawKey: string): Buffer {
    return createHmac('sha256', this.secret()).update(rawKey).digest();
  }

  #toKey(row: KeyRow): ApiKey {
    return {
      id: row.id,
      accountId: row.account_id,
      name: row.name,
      prefix: row.prefix,
      scopes: JSON.parse(row.scopes) as string[],
      createdAt: toIso(row.created_at),
      lastUsedAt: toIsoOrNull(this.#lastUsed.get(row.id) ?? row.last_used_at),
      revokedAt: toIsoOrNull(row.revoked_at),
    };
  }
}

function checkScopes(scopes: readonly string[]): string[] {
  const unknown = scopes.find((scope) => !SCOPES.includes(scope));
  if (unknown === undefined) return [...new Set(scopes)];
  throw new VerbatimError('invalid_request', `Unknown scope "${unknown}"; allowed: ${SCOPES.join(', ')}.`, {
    param: 'scopes',
  });
}

function checkName(name: string): string {
  const trimmed = name.trim();
  const length = lengthOf(trimmed);
  if (length < 1 || length > MAX_NAME_LENGTH) {
    throw badName(`must have 1 to ${MAX_NAME_LENGTH} characters after trimming.`);
  }
  if (UNPRINTABLE.test(trimmed)) {
    throw badName('must be text without control characters and lone surrogates.');
  }
  return trimmed;
}

function badName(rule: string): VerbatimError {
  return new VerbatimError('invalid_request', `The key name ${rule}`, { param: 'name' });
}
