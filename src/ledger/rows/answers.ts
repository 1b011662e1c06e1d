/** Answers that are kept for a repeat, as they are stored. */
import type { JsonValue } from '../json.js';
import type { StoredAnswer } from '../types.js';

/** How long the answer to a request without a key is kept: an SDK has given up long before. */
export const DERIVED_MS = 600_000;

export interface AnswerRow {
  fingerprint: string;
  result: string | null;
  credits_used: number | null;
  credits_remaining: number | null;
  body: string | null;
  job_id: string | null;
  /** When the answer was deleted with its transcript; null: it was not. */
  deleted_at: number | null;
}

export function toAnswer(row: AnswerRow): StoredAnswer {
  const { result, credits_used: creditsUsed, credits_remaining: creditsRemaining, body } = row;
  if (body !== null) return { kind: 'body', body };
  if (row.job_id !== null && result !== null) return { kind: 'job', ticket: JSON.parse(result) as JsonValue };
  if (result === null || creditsUsed === null || creditsRemaining === null) {
    throw new Error('A stored answer is damaged; run: verbatim accounts audit');
  }
  return {
    kind: 'result',
    result: JSON.parse(result) as JsonValue,
    charge: { creditsUsed, creditsRemaining },
  };
}

export function recordGone(what: 'job' | 'request'): Error {
  return new Error(`The idempotency record of this ${what} is gone or already answered.`);
}
