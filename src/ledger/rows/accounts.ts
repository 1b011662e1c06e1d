/** Accounts as they are stored, and what may be stored. */
import { VerbatimError } from '../../errors.js';
import type { Role, Account } from '../types.js';
import { lengthOf, UNPRINTABLE } from '../text.js';
import { toIso, toIsoOrNull } from '../time.js';

const MAX_NAME_LENGTH = 100;

export interface AccountRow {
  id: string;
  email: string;
  name: string | null;
  role: Role;
  created_at: number;
  suspended_at: number | null;
}

export function toAccount(row: AccountRow): Account {
  const { id, email, name, role } = row;
  return {
    ...{ id, email, name, role },
    createdAt: toIso(row.created_at),
    suspendedAt: toIsoOrNull(row.suspended_at),
  };
}

/** As they are stored. Throws `invalid_request`. */
export function checkAccount(input: { email: string; name?: string | null }): {
  email: string;
  name: string | null;
} {
  const email = normalizeEmail(input.email);
  if (email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email) || UNPRINTABLE.test(email)) {
    throw new VerbatimError(
      'invalid_request',
      `"${input.email.slice(0, 254)}" is not an email address; allowed: name@host, at most 254 characters, no ` +
        `controls.`,
      { param: 'email' },
    );
  }
  return { email, name: checkAccountName(input.name ?? '') };
}

export function emailTaken(email: string): VerbatimError {
  return new VerbatimError('invalid_request', `There is already an account for ${email}.`, {
    param: 'email',
  });
}

export function noAccount(id: string): VerbatimError {
  return new VerbatimError('account_not_found', `There is no account ${id}.`);
}

/** Throws `account_suspended`. */
export function refuseSuspended({ suspended_at: suspendedAt }: Pick<AccountRow, 'suspended_at'>): void {
  if (suspendedAt === null) return;
  throw new VerbatimError('account_suspended', `The account is suspended since ${toIso(suspendedAt)}.`);
}

function checkAccountName(given: string): string | null {
  const name = given.trim();
  if (lengthOf(name) <= MAX_NAME_LENGTH && !UNPRINTABLE.test(name)) return name || null;
  throw new VerbatimError(
    'invalid_request',
    `The account's name must be text of at most ${MAX_NAME_LENGTH} characters, without control characters and lone ` +
      `surrogates.`,
    { param: 'name' },
  );
}

/** ASCII only, as SQLite's lower() in the table's CHECK. */
export function normalizeEmail(email: string): string {
  return email.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
