/** What operators see of accounts, as it is stored. */
import { VerbatimError } from '../../errors.js';
import type { AccountUsage, KeptAnswer, KeptWebhookEvent, UsagePlace, UsageQuery } from '../administration.js';
import { dateOfDay, parseIso, toIso, toIsoOrNull, utcDay } from '../time.js';
import type { JsonValue } from '../json.js';

/** Rows that one transaction erases, so that none takes long. */
export const ERASE_LIMIT = 1000;

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
