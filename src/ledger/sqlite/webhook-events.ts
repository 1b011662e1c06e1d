import type Database from 'better-sqlite3';
import type { WorkLease, LeaseTerms, TakenEvent, WebhookLedger, WebhookEvent, WebhookState } from '../jobs.js';
import { randomId } from '../ids.js';
import type { WallClock } from '../time.js';
import type { Instances } from './instances.js';
import { JOB_ROWS, jobOf, type JobRow } from '../rows/jobs.js';
import { ATTEMPTS_MS, EVENT_ROWS, EVENT_STATE, eventOf, type EventRow } from '../rows/webhook-events.js';
import type { Transactions } from './transactions.js';

export interface EventParts {
  instances: Instances;
  transactions: Transactions;
  clock: WallClock;
}

/** See WebhookLedger. */
export class WebhookEvents implements WebhookLedger {
  readonly #statements;

  constructor(
    database: Database.Database,
    private readonly parts: EventParts,
  ) {
    this.#statements = prepare(database);
  }

  /** Of a job that ends, if it has a webhook. Callers hold the write transaction. */
  add(jobId: string): void {
    const now = this.parts.clock();
    this.#statements.insert.run({ id: randomId('msg'), jobId, now, giveUpAt: now + ATTEMPTS_MS });
  }

  take({ leaseMs, mostPerAccount }: LeaseTerms): Promise<TakenEvent | null> {
    const { transactions, instances, clock } = this.parts;
    const take = (): TakenEvent | null => {
      const now = clock();
      const event = this.#statements.next.get({ now, mostPerAccount });
      const row = event && this.#statements.job.get(event.job_id);
      if (event === undefined || row === undefined) return null;
      this.#statements.take.run({ id: event.id, instance: instances.id, expires: now + leaseMs });
      const lease = { id: event.id, attempt: event.attempts + 1 };
      return { lease, job: jobOf(row), url: row.webhook_url ?? '', secret: row.webhook_secret ?? '' };
    };
    // No webhook is sent for an end that a power cut could take back.
    return transactions.confirmed(transactions.passing, take, (event) => event !== null);
  }

  delivered(lease: WorkLease): Promise<boolean> {
    return this.#after(lease, { dueAt: null, deliveredAt: this.parts.clock(), problem: null });
  }

  failed(lease: WorkLease, problem: string, pauseMs: number | null): Promise<boolean> {
    const dueAt = pauseMs === null ? null : this.parts.clock() + pauseMs;
    return this.#after(lease, { dueAt, deliveredAt: null, problem });
  }

  countPending(): Promise<number> {
    return this.parts.transactions.read(() => this.#statements.countPending.get() ?? 0);
  }

  list({ state, limit }: { state: WebhookState | null; limit: number }): Promise<WebhookEvent[]> {
    return this.parts.transactions.read(() => this.#statements.list.all({ state, limit }).map(eventOf));
  }

  retry(id: string): Promise<WebhookEvent | null> {
    const { transactions, clock } = this.parts;
    return transactions.write(() => {
      const now = clock();
      this.#statements.retry.run({ id, now, giveUpAt: now + ATTEMPTS_MS });
      const row = this.#statements.find.get(id);
      return row === undefined ? null : eventOf(row);
    });
  }

  /** Events that a dead server was sending are due at once. */
  giveUpAllOf(instance: string): void {
    this.#statements.giveUpAllOf.run(instance);
  }

  #after(
    { id, attempt }: WorkLease,
    outcome: { dueAt: number | null; deliveredAt: number | null; problem: string | null },
  ): Promise<boolean> {
    const { transactions, instances } = this.parts;
    return transactions.passing(
      () => this.#statements.after.run({ id, attempt, instance: instances.id, ...outcome }).changes === 1,
    );
  }
}

function prepare(database: Database.Database) {
  return {
    insert: database.prepare<{ id: string; jobId: string; now: number; giveUpAt: number }>(
      `INSERT INTO webhook_events (id, job_id, account_id, created_at, due_at, give_up_at)
       SELECT @id, id, account_id, @now, @now, @giveUpAt FROM jobs WHERE id = @jobId AND webhook_url IS NOT NULL`,
    ),
    next: database.prepare<Record<string, number>, { id: string; job_id: string; attempts: number }>(
      `SELECT id, job_id, attempts FROM webhook_events event
       WHERE due_at <= @now AND (lease_expires_at IS NULL OR lease_expires_at <= @now)
         AND (SELECT count(*) FROM webhook_events other
              WHERE other.instance_id IS NOT NULL AND other.lease_expires_at > @now
                AND other.account_id = event.account_id) < @mostPerAccount
       ORDER BY due_at, id LIMIT 1`,
    ),
    countPending: database.prepare<[], number>('SELECT count(*) FROM webhook_events WHERE due_at IS NOT NULL').pluck(),
    job: database.prepare<[string], JobRow>(`SELECT * FROM ${JOB_ROWS} WHERE id = ?`),
    take: database.prepare<{ id: string; instance: string; expires: number }>(
      `UPDATE webhook_events SET instance_id = @instance, lease_expires_at = @expires, attempts = attempts + 1 ` +
        `WHERE id = @id`,
    ),
    after: database.prepare<Record<string, string | number | null>>(
      `UPDATE webhook_events SET instance_id = NULL, lease_expires_at = NULL, delivered_at = @deliveredAt,
         due_at = iif(@dueAt <= give_up_at, @dueAt, NULL), last_problem = @problem
       WHERE id = @id AND instance_id = @instance AND attempts = @attempt`,
    ),
    list: database.prepare<{ state: string | null; limit: number }, EventRow>(
      `SELECT * FROM ${EVENT_ROWS} WHERE @state IS NULL OR @state = ${EVENT_STATE}
       ORDER BY created_at DESC, id DESC LIMIT @limit`,
    ),
    find: database.prepare<[string], EventRow>(`SELECT * FROM ${EVENT_ROWS} WHERE id = ?`),
    retry: database.prepare<{ id: string; now: number; giveUpAt: number }>(
      `UPDATE webhook_events SET due_at = @now, give_up_at = @giveUpAt, delivered_at = NULL WHERE id = @id`,
    ),
    giveUpAllOf: database.prepare<[string]>(
      'UPDATE webhook_events SET instance_id = NULL, lease_expires_at = NULL WHERE instance_id = ?',
    ),
  };
}
