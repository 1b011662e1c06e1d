import type { LeaseTerms, TakenEvent, WebhookLedger, WebhookEvent, WebhookState, WorkLease } from '../jobs.js';
import { JOB_ROWS, jobOf, type JobRow } from '../rows/jobs.js';
import { ATTEMPTS_MS, EVENT_ROWS, EVENT_STATE, eventOf, type EventRow } from '../rows/webhook-events.js';
import type { WallClock } from '../time.js';
import type { PostgresInstance } from './instance.js';
import type { Statements } from './statements.js';

/** See WebhookLedger. */
export class PostgresWebhookEvents implements WebhookLedger {
  constructor(
    private readonly statements: Statements,
    private readonly instance: PostgresInstance,
    private readonly clock: WallClock,
  ) {}

  async take({ leaseMs, mostPerAccount }: LeaseTerms): Promise<TakenEvent | null> {
    const [row] = await this.instance.alive((instance) =>
      this.statements.once<JobRow & { event_id: string; event_attempts: number }>(
        `SELECT job.*, event.id AS event_id, event.attempts AS event_attempts
         FROM take_event($1, $2, $3, $4) event JOIN ${JOB_ROWS} ON job.id = event.job_id`,
        [instance, mostPerAccount, leaseMs, this.clock()],
      ),
    );
    if (row === undefined) return null;
    const lease = { id: row.event_id, attempt: row.event_attempts + 1 };
    return { lease, job: jobOf(row), url: row.webhook_url ?? '', secret: row.webhook_secret ?? '' };
  }

  delivered(lease: WorkLease): Promise<boolean> {
    return this.#after(lease, { dueAt: null, deliveredAt: this.clock(), problem: null });
  }

  failed(lease: WorkLease, problem: string, pauseMs: number | null): Promise<boolean> {
    const dueAt = pauseMs === null ? null : this.clock() + pauseMs;
    return this.#after(lease, { dueAt, deliveredAt: null, problem });
  }

  async countPending(): Promise<number> {
    const [row] = await this.statements.repeatable<{ events: number }>(
      'SELECT count(*) AS events FROM webhook_events WHERE due_at IS NOT NULL',
    );
    return row?.events ?? 0;
  }

  async list({ state, limit }: { state: WebhookState | null; limit: number }): Promise<WebhookEvent[]> {
    const rows = await this.statements.repeatable<EventRow>(
      `SELECT * FROM ${EVENT_ROWS} event WHERE $1::text IS NULL OR $1 = ${EVENT_STATE}
       ORDER BY created_at DESC, id DESC LIMIT $2`,
      [state, limit],
    );
    return rows.map(eventOf);
  }

  async retry(id: string): Promise<WebhookEvent | null> {
    const now = this.clock();
    const [row] = await this.statements.repeatable<EventRow>(
      `WITH due AS (UPDATE webhook_events SET due_at = $2, give_up_at = $3, delivered_at = NULL WHERE id = $1
         RETURNING *)
       SELECT due.*, jobs.webhook_url AS url FROM due JOIN jobs ON jobs.id = due.job_id`,
      [id, now, now + ATTEMPTS_MS],
    );
    return row === undefined ? null : eventOf(row);
  }

  async #after(
    { id, attempt }: WorkLease,
    { dueAt, deliveredAt, problem }: { dueAt: number | null; deliveredAt: number | null; problem: string | null },
  ): Promise<boolean> {
    const rows = await this.statements.once(
      `UPDATE webhook_events SET instance_id = NULL, lease_expires_at = NULL, delivered_at = $4,
         due_at = CASE WHEN $5 <= give_up_at THEN $5 END, last_problem = $6
       WHERE id = $1 AND instance_id = $2 AND attempts = $3 RETURNING 1`,
      [id, this.instance.id, attempt, deliveredAt, dueAt, problem],
    );
    return rows.length > 0;
  }
}
