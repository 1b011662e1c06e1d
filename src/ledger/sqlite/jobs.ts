import type Database from 'better-sqlite3';
import type {
  EndedJob,
  JobLedger,
  JobError,
  JobPlace,
  JobSettlement,
  JobStatus,
  JobEndRequest,
  WorkLease,
  LeaseTerms,
  NewJob,
  OpenJob,
  StoredJob,
  TakenJob,
} from '../jobs.js';
import { textOfJson } from '../json.js';
import type { WallClock } from '../time.js';
import type { Credits } from './credits.js';
import type { Holds } from './holds.js';
import type { Idempotency } from './idempotency.js';
import type { Instances } from './instances.js';
import { JOB_ROWS, jobOf, ticketText, tooManyOpen, type JobRow } from '../rows/jobs.js';
import type { Transactions } from './transactions.js';
import type { UsageRecords } from './usage.js';
import type { WebhookEvents } from './webhook-events.js';

/** Jobs deleted by one call, so that none takes long. */
const DELETE_LIMIT = 50;

const OPEN = "status IN ('queued', 'running')";

export interface JobParts {
  credits: Credits;
  holds: Holds;
  usage: UsageRecords;
  idempotency: Idempotency;
  instances: Instances;
  events: WebhookEvents;
  transactions: Transactions;
  clock: WallClock;
}

/** See JobLedger. */
export class SqliteJobs implements JobLedger {
  readonly #statements;

  constructor(
    database: Database.Database,
    private readonly parts: JobParts,
  ) {
    this.#statements = prepare(database);
  }

  create(job: NewJob): Promise<StoredJob> {
    const { transactions, clock } = this.parts;
    const now = clock();
    const ticket = ticketText(job, now);
    return transactions.write(
      () => this.#create(job, now, ticket),
      () => this.#withdraw(job),
    );
  }

  find(accountId: string, id: string): Promise<StoredJob | null> {
    const { read, confirmed } = this.parts.transactions;
    return confirmed(
      read,
      () => this.#find(accountId, id),
      (job) => job?.outcome != null,
    );
  }

  list(
    accountId: string,
    { status, limit, after }: { status: JobStatus | null; limit: number; after: JobPlace | null },
  ): Promise<StoredJob[]> {
    const createdAt = after === null ? Number.MAX_SAFE_INTEGER : Date.parse(after.createdAt);
    const id = after?.id ?? '';
    const { read, confirmed } = this.parts.transactions;
    return confirmed(
      read,
      () => this.#statements.list.all({ accountId, status, limit, createdAt, id }).map(jobOf),
      (jobs) => jobs.some(({ outcome }) => outcome !== null),
    );
  }

  countOpen(accountId: string): Promise<number> {
    return this.parts.transactions.read(() => this.#countOpen(accountId));
  }

  open(): Promise<OpenJob[]> {
    return this.parts.transactions.read(() => this.#statements.open.all());
  }

  countOpenOfAll(): Promise<{ queued: number; running: number }> {
    return this.parts.transactions.read(() => {
      const counted = { queued: 0, running: 0 };
      for (const { status, jobs } of this.#statements.countOpenOfAll.all()) counted[status] = jobs;
      return counted;
    });
  }

  end(accountId: string, id: string, request: JobEndRequest): Promise<EndedJob | null> {
    return this.parts.transactions.write(() => {
      const job = this.#find(accountId, id);
      if (job === null) return null;
      if ((job.finishedAt === null) !== (request === 'cancel')) return { job, isDone: false };
      if (request === 'cancel') this.parts.holds.releaseOf(id);
      if (request === 'cancel') this.#end(id, 'cancelled', null);
      else this.#statements.delete.run(id);
      return { job: this.#find(accountId, id) ?? job, isDone: true };
    });
  }

  take({ leaseMs, mostPerAccount }: LeaseTerms): Promise<TakenJob | null> {
    const { transactions, instances, clock } = this.parts;
    return transactions.passing(() => {
      // What is done could not be charged.
      if (transactions.isFailing()) return null;
      const now = clock();
      const row = this.#statements.next.get({ now, mostPerAccount });
      if (row === undefined) return null;
      this.#statements.take.run({ id: row.id, instance: instances.id, now, expires: now + leaseMs });
      const taken: JobRow = { ...row, status: 'running', started_at: row.started_at ?? now };
      const lease = { id: row.id, attempt: row.attempts + 1 };
      return { lease, job: jobOf(taken), interruptions: row.attempts - row.put_back };
    });
  }

  renew(held: readonly { lease: WorkLease; doneSeconds: number }[], leaseMs: number): Promise<string[]> {
    const { transactions, instances, clock } = this.parts;
    return transactions.passing(() => {
      const expires = clock() + leaseMs;
      return held
        .filter(({ lease: { id, attempt }, doneSeconds }) => {
          const renewed = { id, attempt, doneSeconds, expires, instance: instances.id };
          return this.#statements.renew.run(renewed).changes === 0;
        })
        .map(({ lease: { id } }) => id);
    });
  }

  putBack(lease: WorkLease, { pauseMs, interrupted }: { pauseMs: number; interrupted: boolean }): Promise<boolean> {
    const { transactions, clock } = this.parts;
    return transactions.passing(() => {
      if (this.#mine(lease) === undefined) return false;
      this.#statements.putBack.run({ id: lease.id, notBefore: clock() + pauseMs, calm: interrupted ? 0 : 1 });
      return true;
    });
  }

  succeed(lease: WorkLease, settlement: JobSettlement): Promise<boolean> {
    const { transactions, credits, holds, usage } = this.parts;
    return transactions.charge(() => {
      const job = this.#mine(lease);
      if (job === undefined) return { value: false, holdId: null };
      const { hold, charged } = holds.settleOf(job.id, settlement.credits);
      usage.record(hold, { ...settlement, credits: charged, requestId: job.request_id });
      const creditsRemaining = credits.balance(hold.account_id).balance;
      const result = textOfJson(settlement.result);
      this.#end(job.id, 'succeeded', { hold: hold.id, result, creditsRemaining });
      return { value: true, holdId: hold.id };
    });
  }

  fail(lease: WorkLease, error: JobError): Promise<boolean> {
    return this.parts.transactions.settle(() => {
      const job = this.#mine(lease);
      if (job === undefined) return false;
      this.parts.holds.releaseOf(job.id);
      this.#end(job.id, 'failed', { error: JSON.stringify(error) });
      return true;
    });
  }

  async knownAmong(ids: readonly string[]): Promise<{ id: string; ended: boolean }[]> {
    const { read, confirmed } = this.parts.transactions;
    const known = await confirmed(
      read,
      () => this.#statements.known.all(JSON.stringify(ids)),
      (found) => found.some(({ ended }) => ended === 1),
    );
    return known.map(({ id, ended }) => ({ id, ended: ended === 1 }));
  }

  deleteEnded(retentionMs: number): Promise<boolean> {
    const { transactions, clock } = this.parts;
    return transactions.passing(() => this.#statements.deleteEnded.run(clock() - retentionMs).changes === DELETE_LIMIT);
  }

  /** Jobs of a dead server go back into the queue, with their credits held as before. */
  giveUpAllOf(instance: string): void {
    this.#statements.giveUpAllOf.run(instance);
  }

  #create(job: NewJob, now: number, ticket: string | null): StoredJob {
    const { holds, idempotency } = this.parts;
    const { id, accountId, keyId, requestId, credits, mostOpen, webhook } = job;
    const open = this.#countOpen(accountId);
    if (open >= mostOpen) throw tooManyOpen(open, mostOpen);
    const { url, secret } = webhook ?? { url: null, secret: null };
    const options = JSON.stringify(job.options);
    const { audioSeconds, fileName = null } = job;
    const owner = { accountId, keyId, requestId, fileName };
    this.#statements.insert.run({ ...owner, id, options, audioSeconds, url, secret, now });
    holds.place({ ...owner, credits }, { jobId: id });
    const made = this.#find(accountId, id);
    if (made === null) throw new Error(`Job ${id} was not written.`);
    if (job.idempotency !== null && ticket !== null) {
      idempotency.accept(job.idempotency.token, { id, accountId }, ticket);
    }
    return made;
  }

  /** As if it had not been accepted. */
  #withdraw({ id, idempotency }: NewJob): void {
    if (idempotency !== null) this.parts.idempotency.withdraw(idempotency.token);
    this.parts.holds.releaseOf(id);
    this.#statements.delete.run(id);
  }

  #find(accountId: string, id: string): StoredJob | null {
    const row = this.#statements.find.get(accountId, id);
    return row === undefined ? null : jobOf(row);
  }

  #countOpen(accountId: string): number {
    return this.#statements.countOpen.get(accountId) ?? 0;
  }

  /** The job of a lease that has not lapsed. */
  #mine({ id, attempt }: WorkLease): JobRow | undefined {
    return this.#statements.mine.get({ id, attempt, instance: this.parts.instances.id });
  }

  #end(
    id: string,
    status: JobStatus,
    ending: { hold?: number; result?: string; creditsRemaining?: number; error?: string } | null,
  ): void {
    const { clock, events } = this.parts;
    const { hold = null, result = null, creditsRemaining = null, error = null } = ending ?? {};
    const now = clock();
    this.#statements.end.run({ id, status, hold, result, creditsRemaining, error, now });
    events.add(id);
  }
}

function prepare(database: Database.Database) {
  return {
    insert: database.prepare<Record<string, string | number | null>>(
      `INSERT INTO jobs (id, account_id, key_id, request_id, status, options, audio_seconds, not_before, created_at,
         webhook_url, webhook_secret, file_name)
       VALUES (@id, @accountId, @keyId, @requestId, 'queued', @options, @audioSeconds, @now, @now, @url, @secret,
         @fileName)`,
    ),
    find: database.prepare<[string, string], JobRow>(`SELECT * FROM ${JOB_ROWS} WHERE account_id = ? AND id = ?`),
    list: database.prepare<Record<string, string | number | null>, JobRow>(
      `SELECT * FROM ${JOB_ROWS} WHERE account_id = @accountId AND (@status IS NULL OR status = @status)
         AND (created_at, id) < (@createdAt, @id)
       ORDER BY created_at DESC, id DESC LIMIT @limit`,
    ),
    countOpen: database.prepare<[string], number>(`SELECT count(*) FROM jobs WHERE account_id = ? AND ${OPEN}`).pluck(),
    countOpenOfAll: database.prepare<[], { status: 'queued' | 'running'; jobs: number }>(
      `SELECT status, count(*) AS jobs FROM jobs WHERE ${OPEN} GROUP BY status`,
    ),
    open: database.prepare<[], OpenJob>(
      `SELECT id, account_id AS accountId, audio_seconds AS audioSeconds, done_seconds AS doneSeconds
       FROM jobs WHERE ${OPEN} ORDER BY created_at, id`,
    ),
    next: database.prepare<Record<string, number>, JobRow>(
      `WITH at_work AS (
         SELECT account_id, count(*) AS jobs FROM jobs WHERE status = 'running' AND lease_expires_at > @now
           GROUP BY account_id),
       waiting AS (
         SELECT id, account_id, created_at, row_number() OVER (PARTITION BY account_id ORDER BY created_at, id) AS place
         FROM jobs WHERE (status = 'queued' AND not_before <= @now) OR (status = 'running'
           AND lease_expires_at <= @now))
       SELECT job.* FROM waiting JOIN ${JOB_ROWS} USING (id) LEFT
         JOIN at_work ON at_work.account_id = waiting.account_id
       WHERE waiting.place = 1 AND coalesce(at_work.jobs, 0) < @mostPerAccount
       ORDER BY coalesce(at_work.jobs, 0), waiting.created_at, waiting.id LIMIT 1`,
    ),
    take: database.prepare<{ id: string; instance: string; now: number; expires: number }>(
      `UPDATE jobs SET status = 'running', instance_id = @instance, lease_expires_at = @expires,
         attempts = attempts + 1,
         started_at = coalesce(started_at, @now), done_seconds = 0
       WHERE id = @id`,
    ),
    mine: database.prepare<{ id: string; attempt: number; instance: string }, JobRow>(
      `SELECT * FROM ${JOB_ROWS} WHERE id = @id AND status = 'running' AND instance_id = @instance
         AND attempts = @attempt`,
    ),
    renew: database.prepare<Record<string, string | number>>(
      `UPDATE jobs SET lease_expires_at = @expires, done_seconds = @doneSeconds
       WHERE id = @id AND status = 'running' AND instance_id = @instance AND attempts = @attempt`,
    ),
    putBack: database.prepare<{ id: string; notBefore: number; calm: number }>(
      `UPDATE jobs SET status = 'queued', instance_id = NULL, lease_expires_at = NULL, started_at = NULL,
         done_seconds = 0,
         not_before = @notBefore, put_back = put_back + @calm
       WHERE id = @id`,
    ),
    giveUpAllOf: database.prepare<[string]>(
      `UPDATE jobs SET status = 'queued', instance_id = NULL, lease_expires_at = NULL, started_at = NULL,
         done_seconds = 0
       WHERE instance_id = ?`,
    ),
    end: database.prepare<Record<string, string | number | null>>(
      `UPDATE jobs SET status = @status, instance_id = NULL, lease_expires_at = NULL, finished_at = @now,
         done_seconds = iif(@status = 'succeeded', audio_seconds, done_seconds),
         hold_id = @hold, result = @result, credits_remaining = @creditsRemaining, error = @error
       WHERE id = @id`,
    ),
    delete: database.prepare<[string]>('DELETE FROM jobs WHERE id = ?'),
    deleteEnded: database.prepare<[number]>(
      `DELETE FROM jobs WHERE id IN (
         SELECT id FROM jobs WHERE finished_at <= ?
           AND NOT EXISTS (SELECT 1 FROM webhook_events event WHERE event.job_id = jobs.id AND event.due_at IS NOT NULL)
         LIMIT ${DELETE_LIMIT})`,
    ),
    known: database.prepare<[string], { id: string; ended: number }>(
      'SELECT id, finished_at IS NOT NULL AS ended FROM jobs WHERE id IN (SELECT value FROM json_each(?))',
    ),
  };
}
