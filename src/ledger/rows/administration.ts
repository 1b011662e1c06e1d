/** What operators see of accounts, as it is stored. */
import { VerbatimError } from '../../errors.js';
import type {
  AccountUsage,
  ListedAccount,
  KeptAnswer,
  KeptWebhookEvent,
  UsagePlace,
  UsageQuery,
} from '../administration.js';
import { endOfPrefix, searchTerms } from '../search-terms.js';
import { normalizeEmail, toAccount, type AccountRow } from './accounts.js';
import { dateOfDay, parseIso, toIso, toIsoOrNull, utcDay } from '../time.js';
import type { JsonValue } from '../json.js';

/** Rows that one transaction erases, so that none takes long. */
export const ERASE_LIMIT = 1000;

export interface ListedAccountRow extends AccountRow {
  balance: number;
  used_at: number | null;
  seen_at: number | null;
}

/** Of both databases, but for how each names the time: what a ListedAccountRow has, of `accounts a`. */
export const customerSql = (now: string): string => `
  SELECT a.*,
    (SELECT CAST(coalesce(sum(remaining), 0) AS BIGINT) FROM credit_packs pack
      WHERE pack.account_id = a.id AND pack.remaining > 0
        AND (pack.expires_at IS NULL OR pack.expires_at > ${now})) AS balance,
    (SELECT max(last_used_at) FROM api_keys WHERE account_id = a.id) AS used_at,
    (SELECT max(seen_at) FROM sessions WHERE account_id = a.id) AS seen_at
  FROM accounts a`;

export function toListedAccount(row: ListedAccountRow): ListedAccount {
  const { balance, used_at: used, seen_at: seen } = row;
  const seenAt = used === null && seen === null ? null : Math.max(used ?? 0, seen ?? 0);
  return { ...toAccount(row), balance, seenAt: toIsoOrNull(seenAt) };
}

/** Entries of the commonest words that a search looks through. */
export const MOST_MATCHES = 20_000;
/** Of a search; further words are ignored. */
const MOST_WORDS = 5;

/** How a search is done. */
export type CustomerSearch =
  | { by: 'id'; id: string }
  | { by: 'address'; from: string; to: string }
  /** No word: nothing is found. */
  | { by: 'words'; words: readonly TermRange[] };

/** Terms from the one, to the other without it. */
export interface TermRange {
  from: string;
  to: string;
}

/** What a search looks through is what has its rarest word. */
export function rarestFirst(words: readonly TermRange[], count: (word: TermRange) => number): TermRange[] {
  const counted = words.map((word) => ({ word, matches: count(word) }));
  return counted.sort((a, b) => a.matches - b.matches).map(({ word }) => word);
}

export function customerSearch(text: string): CustomerSearch {
  const given = text.trim();
  if (/^acc_[\w-]+$/.test(given)) return { by: 'id', id: given };
  if (/^[^\s@]+@[^\s@]*$/.test(given)) return { by: 'address', ...rangeOf(normalizeEmail(given)) };
  return { by: 'words', words: searchTerms(given).slice(0, MOST_WORDS).map(rangeOf) };
}

function rangeOf(prefix: string): TermRange {
  return { from: prefix, to: endOfPrefix(prefix) };
}

export interface KeptAnswerRow {
  key: string;
  derived: number | boolean;
  result: string | null;
  body: string | null;
  created_at: number;
  expires_at: number;
}

export function toKeptAnswer(row: KeptAnswerRow): { place: string; kept: KeptAnswer } {
  return {
    place: row.key,
    kept: {
      idempotencyKey: row.derived === 1 || row.derived === true ? null : row.key,
      createdAt: toIso(row.created_at),
      expiresAt: toIso(row.expires_at),
      answer: row.result === null ? row.body : (JSON.parse(row.result) as JsonValue),
    },
  };
}

export interface KeptEventRow {
  id: string;
  job_id: string;
  attempts: number;
  created_at: number;
  delivered_at: number | null;
  last_problem: string | null;
}

export function toKeptEvent(row: KeptEventRow): KeptWebhookEvent {
  return {
    ...{ id: row.id, jobId: row.job_id, attempts: row.attempts, lastProblem: row.last_problem },
    createdAt: toIso(row.created_at),
    deliveredAt: toIsoOrNull(row.delivered_at),
  };
}

export interface AccountUsageRow extends Omit<AccountUsage, 'date' | 'accountId'> {
  day: number;
  account_id: string;
}

export function toAccountUsage({ day, account_id: accountId, ...row }: AccountUsageRow): AccountUsage {
  return { date: dateOfDay(day), accountId, ...row };
}

/** A day of the query (days since 1970), and the cursor of its list. Throws `invalid_request`. */
export function checkUsageQuery({ from, to, after }: UsageQuery): {
  first: number;
  last: number;
  place: UsagePlace & { day: number };
} {
  const [first, last] = [dayOf('from', from), dayOf('to', to)];
  if (last < first) throw badDay('to', 'to must not be before from.');
  const place = after ?? { date: from, accountId: '', endpoint: '' };
  return { first, last, place: { ...place, day: dayOf('after', place.date) } };
}

function dayOf(param: string, date: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? parseIso(date) : null;
  if (time === null) throw badDay(param, `${param} must be a UTC day as 2026-11-30.`);
  return utcDay(time);
}

function badDay(param: string, message: string): VerbatimError {
  return new VerbatimError('invalid_request', message, { param });
}
