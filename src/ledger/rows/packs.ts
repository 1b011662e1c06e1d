/** Credit packs as they are stored, and what may be stored. */
import { VerbatimError } from '../../errors.js';
import { lengthOf, UNPRINTABLE } from '../text.js';
import { parseIso, toIso, toIsoOrNull } from '../time.js';
import type { CreditPack, Grant, PackAmounts } from '../types.js';

/** Keeps every sum of thousands of packs an exact integer in JavaScript. */
export const MAX_GRANT = 1_000_000_000_000;

const MAX_NOTE_LENGTH = 200;

export interface PackRow {
  id: number;
  account_id: string;
  purchased: number;
  remaining: number;
  created_at: number;
  expires_at: number | null;
  payment_id: string | null;
  note: string | null;
}

export function toPack(row: PackRow): CreditPack {
  return {
    id: String(row.id),
    accountId: row.account_id,
    purchased: row.purchased,
    remaining: row.remaining,
    createdAt: toIso(row.created_at),
    expiresAt: toIsoOrNull(row.expires_at),
    paymentId: row.payment_id,
    note: row.note,
  };
}

export function withAmounts(row: PackRow & PackAmounts): CreditPack & PackAmounts {
  return { ...toPack(row), held: row.held, spent: row.spent, expired: row.expired };
}

/** When it expires, in milliseconds; null: never. Throws `invalid_request`. */
export function checkGrant(
  { amount, expiresAt = null }: { amount: number; expiresAt?: string | null },
  now: number,
): number | null {
  if (!Number.isInteger(amount) || amount < 1 || amount > MAX_GRANT) {
    throw new VerbatimError('invalid_request', `The amount is ${amount}; allowed: an integer from 1 to ${MAX_GRANT}.`, {
      param: 'amount',
    });
  }
  return checkExpiry(expiresAt, now);
}

/** Throws `invalid_request`. */
export function checkPayment(id: string): string {
  if (/^[!-~]{1,255}$/.test(id)) return id;
  throw new VerbatimError(
    'invalid_request',
    "The payment's id must be 1 to 255 printable ASCII characters without spaces.",
    { param: 'payment_id' },
  );
}

/** null: none. Throws `invalid_request`. */
export function checkNote(given: string | null): string | null {
  const note = given?.trim() ?? '';
  if (lengthOf(note) <= MAX_NOTE_LENGTH && !UNPRINTABLE.test(note)) return note || null;
  throw new VerbatimError(
    'invalid_request',
    `The note must be text of at most ${MAX_NOTE_LENGTH} characters, without control characters and lone surrogates.`,
    { param: 'note' },
  );
}

/** The pack of a payment that is sent again. Throws `idempotency_conflict`. */
export function samePayment(row: PackRow, { accountId, amount }: Grant): CreditPack {
  if (row.account_id === accountId && row.purchased === amount) return toPack(row);
  const whose = row.account_id === accountId ? 'this account' : 'another account';
  throw new VerbatimError(
    'idempotency_conflict',
    `This payment has granted ${row.purchased} credits to ${whose} already.`,
    { param: 'payment_id' },
  );
}

/** Throws a RangeError. */
export function checkAmount(what: string, credits: number, maximum: number): void {
  if (Number.isSafeInteger(credits) && credits >= 0 && credits <= maximum) return;
  throw new RangeError(`${what} of ${credits} credits; allowed: an integer from 0 to ${maximum}.`);
}

export function insufficient(credits: number, available: number): VerbatimError {
  return new VerbatimError(
    'insufficient_credits',
    `This request costs ${credits} credits; the account has ${available}.`,
  );
}

export function revokedMeanwhile(): VerbatimError {
  return new VerbatimError(
    'invalid_api_key',
    'The API key was revoked, or its account suspended, while the request was running.',
  );
}

function checkExpiry(text: string | null, now: number): number | null {
  if (text === null) return null;
  const time = parseIso(text);
  if (time !== null && time > now) return time;
  throw new VerbatimError(
    'invalid_request',
    `The expiry is "${text}"; allowed: a date or date and time to come, as 2030-12-31 or 2030-12-31T18:00:00Z.`,
    { param: 'expires_at' },
  );
}
