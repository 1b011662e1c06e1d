/** Keys as they are stored, and what may be stored. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { VerbatimError } from '../../errors.js';
import type { Role, ApiKey, Identity } from '../types.js';
import { randomId } from '../ids.js';
import { SCOPES } from '../scopes.js';
import { lengthOf, UNPRINTABLE } from '../text.js';
import { toIso, toIsoOrNull } from '../time.js';
import { toAccount } from './accounts.js';

const RAW_KEY = /^vb_[A-Za-z0-9_-]{43}$/;
const PREFIX_LENGTH = 11;
const MAX_NAME_LENGTH = 100;

export interface KeyRow {
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

export interface IdentityRow extends KeyRow {
  email: string;
  account_name: string | null;
  account_role: Role;
  account_created_at: number;
  account_suspended_at: number | null;
}

/** A key that is to be stored. */
export interface NewKey {
  id: string;
  name: string;
  prefix: string;
  digest: Buffer;
  /** JSON */
  scopes: string;
  rawKey: string;
}

/** Throws `invalid_request` for a bad name or unknown scope. */
export function newKey(input: { name: string; scopes: readonly string[] }, secret: () => Buffer): NewKey {
  const scopes = JSON.stringify(checkScopes(input.scopes));
  const name = checkKeyName(input.name);
  const rawKey = `vb_${randomBytes(32).toString('base64url')}`;
  const digest = digestOfKey(rawKey, secret());
  return { id: randomId('key'), name, prefix: rawKey.slice(0, PREFIX_LENGTH), digest, scopes, rawKey };
}

/** null: no key looks like this. */
export function digestOfPresented(rawKey: string, secret: () => Buffer): Buffer | null {
  return RAW_KEY.test(rawKey) ? digestOfKey(rawKey, secret()) : null;
}

export function isKeyOf(row: KeyRow, digest: Buffer): boolean {
  return timingSafeEqual(row.digest, digest);
}

/** `lastUsed`: a use that is not written yet. */
export function toKey(row: KeyRow, lastUsed?: number): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    prefix: row.prefix,
    scopes: JSON.parse(row.scopes) as string[],
    createdAt: toIso(row.created_at),
    lastUsedAt: toIsoOrNull(lastUsed ?? row.last_used_at),
    revokedAt: toIsoOrNull(row.revoked_at),
  };
}

export function toIdentity(row: IdentityRow, lastUsed: number): Identity {
  const { email, account_id: id, account_name: name, account_role: role } = row;
  const times = { created_at: row.account_created_at, suspended_at: row.account_suspended_at };
  const account = toAccount({ id, email, name, role, ...times });
  return { account, key: toKey(row, lastUsed) };
}

function digestOfKey(rawKey: string, secret: Buffer): Buffer {
  return createHmac('sha256', secret).update(rawKey).digest();
}

function checkScopes(scopes: readonly string[]): string[] {
  const unknown = scopes.find((scope) => !SCOPES.includes(scope));
  if (unknown === undefined) return [...new Set(scopes)];
  throw new VerbatimError('invalid_request', `Unknown scope "${unknown}"; allowed: ${SCOPES.join(', ')}.`, {
    param: 'scopes',
  });
}

function checkKeyName(name: string): string {
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
