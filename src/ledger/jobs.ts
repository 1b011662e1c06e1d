/** Stored transcriptions that are answered later, and the events at their end. */
import type { Charge, Settlement } from './types.js';
import type { JsonValue } from './json.js';

export const JOB_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export interface JobError {
  code: string;
  message: string;
  param: string | null;
}

/** A job as its account may see it. */
export interface StoredJob {
  id: string;
  accountId: string;
  keyId: string;
  requestId: string;
  status: JobStatus;
  options: JsonValue;
  /** Of the uploaded file; null: it has none. */
  fileName: string | null;
  audioSeconds: number;
  /** Seconds of the audio that lie behind, as far as its server has written them down. */
  doneSeconds: number;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  /** Of one that succeeded. */
  outcome: { result: JsonValue; charge: Charge } | null;
  /** Of one that failed. */
  error: JobError | null;
  /** Where its end is posted; null: nowhere. */
  webhookUrl: string | null;
  /** That made the result; null: there is none, or a version made it that did not note the model. */
  model: string | null;
}

export interface NewJob {
  id: string;
  accountId: string;
  keyId: string;
  requestId: string;
  options: JsonValue;
  /** Of the uploaded file, 1 to 255 characters; null, the default: it has none. */
  fileName?: string | null;
  audioSeconds: number;
  /** To be held until the job ends. */
  credits: number;
  webhook: { url: string; secret: string } | null;
  /** Of the account's jobs that have not ended, this one included. */
  mostOpen: number;
  /** A 'new' record, completed in the same transaction: a repeat is answered with the ticket and its `createdAt`. */
  idempotency: { token: string; ticket: Readonly<Record<string, JsonValue>> } | null;
}

/** The right to work on a job, or to send an event, until it lapses. */
export interface WorkLease {
  id: string;
  attempt: number;
}

export interface TakenJob {
  lease: WorkLease;
  job: StoredJob;
  /** How often a server that worked on it has died, or its work broke off for no reason of the job's. */
  interruptions: number;
}

export interface LeaseTerms {
  leaseMs: number;
  /** That one account may have at once, on all servers. */
  mostPerAccount: number;
}

/** One that has not ended. */
export type OpenJob = Pick<StoredJob, 'id' | 'accountId' | 'audioSeconds' | 'doneSeconds'>;

export type JobEndRequest = 'cancel' | 'delete';

export interface EndedJob {
  /** As it is then; deleted: as it was. */
  job: StoredJob;
  /** Whether this call has carried out the request. */
  isDone: boolean;
}

/** Where a list goes on: behind this job. */
export interface JobPlace {
  createdAt: string;
  id: string;
}

/** If the price has risen meanwhile, the charge is limited to the hold. */
export type JobSettlement = Omit<Settlement, 'requestId' | 'idempotencyToken'>;

/** A call with a lease that has lapsed changes nothing, and returns false or null. */
export interface JobLedger {
  /**
   * Held credits and job in one transaction. Throws `rate_limited` when the account has `mostOpen` already,
   * `insufficient_credits`, or `invalid_api_key` if the key was revoked meanwhile.
   */
  create(job: NewJob): Promise<StoredJob>;
  find(accountId: string, id: string): Promise<StoredJob | null>;
  /** Newest first. */
  list(
    accountId: string,
    query: { status: JobStatus | null; limit: number; after: JobPlace | null },
  ): Promise<StoredJob[]>;
  countOpen(accountId: string): Promise<number>;
  /** Of all accounts, in the order in which an account's jobs are begun. */
  open(): Promise<OpenJob[]>;
  countOpenOfAll(): Promise<{ queued: number; running: number }>;
  /**
   * 'cancel' ends a job that has not ended, uncharged; 'delete' deletes one that has. The other kind stays as it is: a
   * cancellation that comes too late does not lose a result that was charged. null: the account has no such job.
   */
  end(accountId: string, id: string, request: JobEndRequest): Promise<EndedJob | null>;

  /** The oldest job of an account that has fewest running; null: none can be taken now. */
  take(terms: LeaseTerms): Promise<TakenJob | null>;
  /** Extends leases and notes progress; answers the ids of those that have lapsed. */
  renew(held: readonly { lease: WorkLease; doneSeconds: number }[], leaseMs: number): Promise<string[]>;
  /** Back into the queue, for this long at least; `interrupted`: the work broke off. */
  putBack(lease: WorkLease, again: { pauseMs: number; interrupted: boolean }): Promise<boolean>;
  /** Usage row + spend + result in one transaction. Throws `invalid_api_key` if the key was revoked meanwhile. */
  succeed(lease: WorkLease, settlement: JobSettlement): Promise<boolean>;
  fail(lease: WorkLease, error: JobError): Promise<boolean>;
  /** The jobs with these ids that exist, and whether they have ended. */
  knownAmong(ids: readonly string[]): Promise<{ id: string; ended: boolean }[]>;
  /** Deletes jobs that ended so long ago and whose webhooks are delivered or given up; true when there may be more. */
  deleteEnded(retentionMs: number): Promise<boolean>;
}

export type WebhookState = 'pending' | 'delivered' | 'failed';

export interface WebhookEvent {
  id: string;
  jobId: string;
  accountId: string;
  url: string;
  state: WebhookState;
  createdAt: string;
  attempts: number;
  /** null: no more. */
  nextAttemptAt: string | null;
  deliveredAt: string | null;
  /** Of the last attempt that failed. */
  lastProblem: string | null;
}

export interface TakenEvent {
  lease: WorkLease;
  job: StoredJob;
  url: string;
  secret: string;
}

/** Events are made by what ends a job. */
export interface WebhookLedger {
  /** The event that has been due for longest, of an account that has few on their way; null: there is none. */
  take(terms: LeaseTerms): Promise<TakenEvent | null>;
  delivered(lease: WorkLease): Promise<boolean>;
  /** `pauseMs`: until the next attempt, if that is within the time that attempts are made; null: it is the last one. */
  failed(lease: WorkLease, problem: string, pauseMs: number | null): Promise<boolean>;
  /** Those that are still to be sent. */
  countPending(): Promise<number>;
  /** Newest first. */
  list(query: { state: WebhookState | null; limit: number }): Promise<WebhookEvent[]>;
  /**
   * Makes the event due at once, with the full time for attempts; null: there is no such event. Delivered ones are sent
   * once more.
   */
  retry(id: string): Promise<WebhookEvent | null>;
}
