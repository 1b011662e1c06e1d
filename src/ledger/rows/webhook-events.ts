/** Events at a job's end, as they are stored. */
import type { WebhookEvent } from '../jobs.js';
import { DAY_MS, toIso, toIsoOrNull } from '../time.js';

/** How long attempts are made. */
export const ATTEMPTS_MS = DAY_MS;

export interface EventRow {
  id: string;
  job_id: string;
  account_id: string;
  url: string;
  created_at: number;
  attempts: number;
  due_at: number | null;
  delivered_at: number | null;
  last_problem: string | null;
}

/** The tables that an EventRow is selected from. */
export const EVENT_ROWS = `(SELECT event.*, jobs.webhook_url AS url
  FROM webhook_events event JOIN jobs ON jobs.id = event.job_id)`;

export const EVENT_STATE =
  "CASE WHEN due_at IS NOT NULL THEN 'pending' WHEN delivered_at IS NOT NULL THEN 'delivered' ELSE 'failed' END";

export function eventOf(row: EventRow): WebhookEvent {
  const { due_at: dueAt, delivered_at: deliveredAt } = row;
  return {
    ...{ id: row.id, jobId: row.job_id, accountId: row.account_id, url: row.url, attempts: row.attempts },
    state: dueAt !== null ? 'pending' : deliveredAt !== null ? 'delivered' : 'failed',
    createdAt: toIso(row.created_at),
    nextAttemptAt: toIsoOrNull(dueAt),
    deliveredAt: toIsoOrNull(deliveredAt),
    lastProblem: row.last_problem,
  };
}
