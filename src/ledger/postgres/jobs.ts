import type {
  EndedJob,
  JobLedger,
  JobError,
  JobPlace,
  JobSettlement,
  JobStatus,
  JobEndRequest,
  LeaseTerms,
  NewJob,
  OpenJob,
  StoredJob,
  TakenJob,
  WorkLease,
} from '../jobs.js';
import { randomId } from '../ids.js';
import { recordGone } from '../rows/answers.js';
import { JOB_CHARGE, JOB_ROWS, jobOf, ticketText, tooManyOpen, type JobRow } from '../rows/jobs.js';
import { checkAmount, insufficient, revokedMeanwhile } from '../rows/packs.js';
import type { WallClock } from '../time.js';
import { billSql, billValues } from './holds.js';
import type { PostgresInstance } from './instance.js';
import type { Statements } from './statements.js';

/** Jobs deleted by one call, so that none takes long. */
const DELETE_LIMIT = 50;

const OPEN = "status IN ('queued', 'running')";
const WITH_CHARGE = 'LEFT JOIN usage_events event ON event.hold_id = job.hold_id';
const MINE = "id = $1 AND attempts = $2 AND instance_id = $3 AND status = 'running'";

interface Created {
  outcome: 'made' | 'too many' | 'no record' | 'revoked' | 'insufficient';
  open_jobs: number;
  available: number;
}

/** See JobLedger. */
export class PostgresJobs implements JobLedger {
  constructor(
    private readonly statements: Statements,
    private readonly instance: PostgresInstance,
    private readonly clock: WallClock,
  ) {}

  async create(job: NewJob): Promise<StoredJob> {
    const { id, accountId, keyId, requestId, credits, mostOpen, webhook, audioSeconds } = job;
    checkAmount('A hold', credits, Number.MAX_SAFE_INTEGER);
    const now = this.clock();
    const ticket = ticketText(job, now);
    const [created] = await this.statements.repeatable<Created>(
      'SELECT * FROM create_job($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)',
      [
        ...[id, accountId, keyId, requestId, JSON.stringify(job.options), audioSeconds, credits],
        ...[webhook?.url ?? null, webhook?.secret ?? null, mostOpen],
        ...[job.idempotency?.token ?? null, ticket, now, job.fileName ?? null],
      ],
    );
    refuse(created, job);
    const made = await this.find(accountId, id);
    if (made === null) throw new Error(`Job ${id} was not written.`);
    return made;
  }

  async find(accountId: string, id: string): Promise<StoredJob | null> {
    const [row] = await this.statements.repeatable<JobRow>(
      `SELECT * FROM ${JOB_ROWS} WHERE account_id = $1 AND id = $2`,
      [accountId, id],
    );
    return row === undefined ? null : jobOf(row);
  }

  async list(
    accountId: string,
    { status, limit, after }: { status: JobStatus | null; limit: number; after: JobPlace | null },
  ): Promise<StoredJob[]> {
    const createdAt = after === null ? Number.MAX_SAFE_INTEGER : Date.parse(after.createdAt);
    const rows = await this.statements.repeatable<JobRow>(
      `SELECT * FROM ${JOB_ROWS} WHERE account_id = $1 AND ($2::text IS NULL OR status = $2)
         AND (created_at, id) < ($3, $4 COLLATE "C") ORDER BY created_at DESC, id DESC LIMIT $5`,
      [accountId, status, createdAt, after?.id ?? '', limit],
    );
    return rows.map(jobOf);
  }

  async countOpen(accountId: string): Promise<number> {
    const [row] = await this.statements.repeatable<{ jobs: number }>(
      `SELECT count(*) AS jobs FROM jobs WHERE account_id = $1 AND ${OPEN}`,
      [accountId],
    );
    return row?.jobs ?? 0;
  }

  async open(): Promise<OpenJob[]> {
    return this.statements.repeatable<OpenJob>(
      `SELECT id, account_id AS "accountId", audio_seconds AS "audioSeconds", done_seconds AS "doneSeconds"
       FROM jobs WHERE ${OPEN} ORDER BY created_at, id`,
    );
  }

  async countOpenOfAll(): Promise<{ queued: number; running: number }> {
    const counted = { queued: 0, running: 0 };
    const rows = await this.statements.repeatable<{ status: 'queued' | 'running'; jobs: number }>(
      `SELECT status, count(*) AS jobs FROM jobs WHERE ${OPEN} GROUP BY status`,
    );
    for (const { status, jobs } of rows) counted[status] = jobs;
    return counted;
  }

  async end(accountId: string, id: string, request: JobEndRequest): Promise<EndedJob | null> {
    const [row] = await this.statements.once<JobRow & { done: boolean }>(
      `SELECT job.*, ${JOB_CHARGE}, ended.done
       FROM end_as_wished($1, $2, $3, $4, $5) ended CROSS JOIN LATERAL (SELECT (ended.job).*) job ${WITH_CHARGE}`,
      [accountId, id, request === 'delete', randomId('msg'), this.clock()],
    );
    return row === undefined ? null : { job: jobOf(row), isDone: row.done };
  }

  async take({ leaseMs, mostPerAccount }: LeaseTerms): Promise<TakenJob | null> {
    const now = this.clock();
    const [row] = await this.instance.alive((instance) =>
      this.statements.once<JobRow>(`SELECT job.*, ${JOB_CHARGE} FROM take_job($1, $2, $3, $4) job ${WITH_CHARGE}`, [
        instance,
        mostPerAccount,
        leaseMs,
        now,
      ]),
    );
    if (row === undefined) return null;
    const taken: JobRow = { ...row, status: 'running', started_at: row.started_at ?? now };
    const lease = { id: row.id, attempt: row.attempts + 1 };
    return { lease, job: jobOf(taken), interruptions: row.attempts - row.put_back };
  }

  async renew(held: readonly { lease: WorkLease; doneSeconds: number }[], leaseMs: number): Promise<string[]> {
    const rows = await this.statements.repeatable<{ id: string }>(
      `UPDATE jobs SET lease_expires_at = $5, done_seconds = held.done
       FROM unnest($1::text[], $2::bigint[], $3::double precision[]) AS held (id, attempt, done)
       WHERE jobs.id = held.id AND attempts = held.attempt AND instance_id = $4 AND status = 'running'
         RETURNING jobs.id`,
      [
        held.map(({ lease: { id } }) => id),
        held.map(({ lease: { attempt } }) => attempt),
        held.map(({ doneSeconds }) => doneSeconds),
        ...[this.instance.id, this.clock() + leaseMs],
      ],
    );
    const renewed = new Set(rows.map(({ id }) => id));
    return held.map(({ lease: { id } }) => id).filter((id) => !renewed.has(id));
  }

  async putBack(
    { id, attempt }: WorkLease,
    { pauseMs, interrupted }: { pauseMs: number; interrupted: boolean },
  ): Promise<boolean> {
    const rows = await this.statements.repeatable(
      `UPDATE jobs SET status = 'queued', instance_id = NULL, lease_expires_at = NULL, started_at = NULL,
         done_seconds = 0,
         not_before = $4, put_back = put_back + $5 WHERE ${MINE} RETURNING 1`,
      [id, attempt, this.instance.id, this.clock() + pauseMs, interrupted ? 0 : 1],
    );
    return rows.length > 0;
  }

  async succeed({ id, attempt }: WorkLease, settlement: JobSettlement): Promise<boolean> {
    checkAmount('A charge', settlement.credits, Number.MAX_SAFE_INTEGER);
    const bill = billValues({ ...settlement, requestId: null });
    const event = randomId('msg');
    const [row] = await this.statements.untilDone<{ outcome: 'ended' | 'lapsed' | 'revoked' }>(
      `SELECT succeed_job($1, $2, $3, ${billSql(3)}, $13, $14, $15) AS outcome`,
      (repeated) => [id, attempt, this.instance.id, ...bill, event, repeated, this.clock()],
    );
    if (row?.outcome === 'revoked') throw revokedMeanwhile();
    return row?.outcome === 'ended';
  }

  async fail({ id, attempt }: WorkLease, error: JobError): Promise<boolean> {
    const event = randomId('msg');
    const [row] = await this.statements.untilDone<{ outcome: 'ended' | 'lapsed' }>(
      'SELECT fail_job($1, $2, $3, $4, $5, $6, $7) AS outcome',
      (repeated) => [...[id, attempt, this.instance.id, JSON.stringify(error), event, repeated, this.clock()]],
    );
    return row?.outcome === 'ended';
  }

  knownAmong(ids: readonly string[]): Promise<{ id: string; ended: boolean }[]> {
    return this.statements.repeatable<{ id: string; ended: boolean }>(
      'SELECT id, finished_at IS NOT NULL AS ended FROM jobs WHERE id = ANY ($1) ORDER BY id',
      [ids],
    );
  }

  async deleteEnded(retentionMs: number): Promise<boolean> {
    const rows = await this.statements.repeatable(
      `DELETE FROM jobs WHERE id IN (
         SELECT id FROM jobs WHERE finished_at <= $1
           AND NOT EXISTS (SELECT 1 FROM webhook_events event WHERE event.job_id = jobs.id AND event.due_at IS NOT NULL)
         LIMIT ${DELETE_LIMIT} FOR UPDATE SKIP LOCKED) RETURNING 1`,
      [this.clock() - retentionMs],
    );
    return rows.length === DELETE_LIMIT;
  }
}

function refuse(created: Created | undefined, { credits, mostOpen }: NewJob): void {
  switch (created?.outcome) {
    case 'made':
      return;
    case 'too many':
      throw tooManyOpen(created.open_jobs, mostOpen);
    case 'revoked':
      throw revokedMeanwhile();
    case 'no record':
      throw recordGone('job');
    default:
      throw insufficient(credits, created?.available ?? 0);
  }
}
