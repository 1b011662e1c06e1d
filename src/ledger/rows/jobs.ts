/** Jobs as they are stored. */
import { VerbatimError } from '../../errors.js';
import type { JobError, JobStatus, NewJob, StoredJob } from '../jobs.js';
import { toIso, toIsoOrNull } from '../time.js';
import type { JsonValue } from '../json.js';

export interface JobRow {
  id: string;
  account_id: string;
  key_id: string;
  request_id: string;
  status: JobStatus;
  options: string;
  file_name: string | null;
  audio_seconds: number;
  done_seconds: number;
  attempts: number;
  put_back: number;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  result: string | null;
  credits_used: number | null;
  credits_remaining: number | null;
  model: string | null;
  error: string | null;
  webhook_url: string | null;
  webhook_secret: string | null;
}

/** The columns of the usage row, as `event`, that a JobRow has. */
export const JOB_CHARGE = 'event.credits AS credits_used, event.model';

/** The table that a JobRow is selected from, as `job`. */
export const JOB_ROWS = `(SELECT jobs.*, ${JOB_CHARGE}
  FROM jobs LEFT JOIN usage_events event ON event.hold_id = jobs.hold_id) job`;

export function jobOf(row: JobRow): StoredJob {
  const { id, status, result, credits_used: creditsUsed, credits_remaining: creditsRemaining, error } = row;
  const charged = result !== null && creditsUsed !== null && creditsRemaining !== null;
  return {
    ...{ id, status, accountId: row.account_id, keyId: row.key_id, requestId: row.request_id },
    options: JSON.parse(row.options) as JsonValue,
    fileName: row.file_name,
    audioSeconds: row.audio_seconds,
    doneSeconds: row.done_seconds,
    createdAt: toIso(row.created_at),
    startedAt: toIsoOrNull(row.started_at),
    finishedAt: toIsoOrNull(row.finished_at),
    outcome: charged ? { result: JSON.parse(result) as JsonValue, charge: { creditsUsed, creditsRemaining } } : null,
    error: error === null ? null : (JSON.parse(error) as JobError),
    webhookUrl: row.webhook_url,
    model: row.model,
  };
}

export function tooManyOpen(open: number, most: number): VerbatimError {
  return new VerbatimError('rate_limited', `The account has ${open} jobs that have not ended; its limit is ${most}.`);
}

/** The stored answer for a repeat of the request; null: there is no Idempotency-Key. */
export function ticketText({ idempotency }: NewJob, now: number): string | null {
  return idempotency === null ? null : JSON.stringify({ ...idempotency.ticket, createdAt: toIso(now) });
}
