/**
 * Transcriptions that are answered later: accepted, measured and paid for while the client waits, worked on behind its
 * requests.
 */
import { rm, stat } from 'node:fs/promises';
import type { EngineStats } from '../engine/types.js';
import type { JobPlace, JobStatus, JobEndRequest, StoredJob } from '../ledger/jobs.js';
import type { Ledger } from '../ledger/ledger.js';
import type { StoredAnswer } from '../ledger/types.js';
import { VerbatimError } from '../errors.js';
import { digestOfRequest, fingerprint } from '../transcription/fingerprint.js';
import { beginIdempotent } from '../transcription/idempotent.js';
import type { TranscriptionRequest, TranscriptionService } from '../transcription/transcription.js';
import { etaSeconds } from './eta.js';
import { newJobId, type JobAudio } from './job-audio.js';
import type { JobRunner } from './job-runner.js';
import { KeptBytes } from './kept-bytes.js';
import { storedOptions } from './stored-options.js';

export interface WebhookTarget {
  url: string;
  secret: string;
  /** The service made the secret: the answer shows it. */
  isNew: boolean;
}

export type JobRequest = Omit<TranscriptionRequest, 'unkeyed'> & { webhook: WebhookTarget | null };

/** The answer to a new job. */
export type JobTicket = {
  id: string;
  createdAt: string;
  /** null: the client has sent its own, or there is no webhook. */
  webhookSecret: string | null;
};

export interface WatchedJob {
  job: StoredJob;
  /** From 0 to 1, which it is when the job has succeeded. */
  progress: number;
  /** null: it has ended. */
  etaSeconds: number | null;
}

export interface EndedWatchedJob extends WatchedJob {
  /** Whether the request was carried out; false: the job was in the wrong state. */
  isDone: boolean;
}

/** Of a job whose windows are done, and which is still worked on: its text is translated, say. */
const NEARLY_DONE = 0.99;

export interface JobServiceDeps {
  ledger: Ledger;
  engine: { stats(): EngineStats };
  transcription: Pick<TranscriptionService, 'measure'>;
  audio: JobAudio;
  runner: Pick<JobRunner, 'wake' | 'breakOff' | 'doneSeconds' | 'untilKept'>;
  /** Called when a job has ended otherwise than by its work. */
  onEnd: (how: 'cancelled') => void;
  maxOpen: number;
  /** Of audio that the jobs of an account keep until they end. */
  maxKeptBytes: number;
}

export class JobService {
  readonly #kept: KeptBytes;

  constructor(private readonly deps: JobServiceDeps) {
    const { ledger, maxOpen: mostJobs, maxKeptBytes: mostBytes } = deps;
    this.#kept = new KeptBytes(ledger.jobs, { mostJobs, mostBytes });
  }

  /** Throws `rate_limited` when the account has as many jobs that have not ended as it may. */
  async checkRoom(accountId: string): Promise<void> {
    const { ledger, maxOpen } = this.deps;
    const open = await ledger.jobs.countOpen(accountId);
    if (open < maxOpen) return;
    const message = `The account has ${open} jobs that have not ended; its limit is ${maxOpen}.`;
    throw new VerbatimError('rate_limited', message);
  }

  /**
   * The file is the service's from now on. Rejects as TranscriptionService.measure() does, or with `rate_limited`;
   * nothing is left then.
   */
  async create(request: JobRequest): Promise<{ accepted: JobTicket; replayed: boolean }> {
    try {
      const begun = await this.#begin(request);
      if (begun !== null && typeof begun !== 'string') return { accepted: acceptedBefore(begun), replayed: true };
      return { accepted: await this.#acceptOrAbandon(request, begun), replayed: false };
    } finally {
      await rm(request.audio.path, { force: true });
    }
  }

  async find(accountId: string, id: string): Promise<WatchedJob | null> {
    const job = await this.deps.ledger.jobs.find(accountId, id);
    // Whoever sees that it has succeeded finds its transcript.
    if (job?.status === 'succeeded') await this.deps.runner.untilKept(id);
    return job === null ? null : ((await this.#watched([job]))[0] ?? null);
  }

  /** Of the account's jobs with these ids, those that exist. */
  async watch(accountId: string, ids: readonly string[]): Promise<WatchedJob[]> {
    const found = await Promise.all(ids.map((id) => this.deps.ledger.jobs.find(accountId, id)));
    return this.#watched(found.filter((job) => job !== null));
  }

  async list(
    accountId: string,
    query: { status: JobStatus | null; limit: number; after: JobPlace | null },
  ): Promise<WatchedJob[]> {
    return this.#watched(await this.deps.ledger.jobs.list(accountId, query));
  }

  /**
   * Cancels a job that has not ended, uncharged; one that has ended keeps its result. null: the account has no such
   * job.
   */
  cancel(accountId: string, id: string): Promise<EndedWatchedJob | null> {
    return this.#end(accountId, id, 'cancel');
  }

  /** Deletes a job that has ended; one that has not goes on. null: the account has no such job. */
  delete(accountId: string, id: string): Promise<EndedWatchedJob | null> {
    return this.#end(accountId, id, 'delete');
  }

  /**
   * For requests that do not choose: cancels a job that has not ended, deletes one that has. A job that ends while it
   * is being cancelled stays: its client has paid for a result that it has not seen.
   */
  async cancelOrDelete(accountId: string, id: string): Promise<WatchedJob | null> {
    const found = await this.deps.ledger.jobs.find(accountId, id);
    if (found === null) return null;
    return this.#end(accountId, id, found.finishedAt === null ? 'cancel' : 'delete');
  }

  async #end(accountId: string, id: string, request: JobEndRequest): Promise<EndedWatchedJob | null> {
    const { ledger, runner, audio, onEnd } = this.deps;
    const ended = await ledger.jobs.end(accountId, id, request);
    if (ended === null) return null;
    const { job, isDone } = ended;
    if (isDone) {
      runner.breakOff(id);
      await audio.remove(id);
      if (request === 'cancel') onEnd('cancelled');
    }
    const [watched] = await this.#watched([job]);
    return watched === undefined ? null : { ...watched, isDone };
  }

  #begin(request: JobRequest): Promise<string | StoredAnswer | null> {
    const { accountId, idempotencyKey: key } = request;
    if (key === null) return Promise.resolve(null);
    return beginIdempotent(this.deps.ledger, { accountId, key, fingerprint: fingerprintOf(request) });
  }

  async #acceptOrAbandon(request: JobRequest, token: string | null): Promise<JobTicket> {
    try {
      return await this.#accept(request, token);
    } catch (error) {
      if (token !== null) await this.deps.ledger.idempotency.abandon(token);
      throw error;
    }
  }

  async #accept(request: JobRequest, token: string | null): Promise<JobTicket> {
    const measured = await this.deps.transcription.measure(request);
    const { size: bytes } = await stat(request.audio.path);
    return this.#kept.within(request.accountId, bytes, () => this.#keep(request, token, { ...measured, bytes }));
  }

  async #keep(
    request: JobRequest,
    token: string | null,
    { durationSeconds: audioSeconds, credits, bytes }: { durationSeconds: number; credits: number; bytes: number },
  ): Promise<JobTicket> {
    const { ledger, audio, runner, maxOpen } = this.deps;
    const { accountId, keyId, requestId, options, webhook, signal } = request;
    const id = newJobId();
    const webhookSecret = webhook?.isNew === true ? webhook.secret : null;
    await audio.keep(request.audio.path, id);
    try {
      // The last look before it is accepted: no client is left to answer.
      signal.throwIfAborted();
      const { createdAt } = await ledger.jobs.create({
        ...{ id, accountId, keyId, requestId, audioSeconds, credits, mostOpen: maxOpen },
        fileName: request.audio.fileName ?? null,
        options: storedOptions(options, { sha256: request.audio.sha256, bytes }, request.keep),
        webhook: webhook && { url: webhook.url, secret: webhook.secret },
        idempotency: token === null ? null : { token, ticket: { id, webhookSecret } },
      });
      runner.wake();
      return { id, createdAt, webhookSecret };
    } catch (error) {
      await audio.remove(id);
      throw error;
    }
  }

  async #watched(jobs: readonly StoredJob[]): Promise<WatchedJob[]> {
    const etas = jobs.some(({ finishedAt }) => finishedAt === null) ? await this.#etas() : new Map<string, number>();
    return jobs.map((job) => ({
      job,
      progress: this.#progress(job),
      etaSeconds: job.finishedAt === null ? (etas.get(job.id) ?? 1) : null,
    }));
  }

  async #etas(): Promise<Map<string, number>> {
    const { ledger, engine, runner } = this.deps;
    const open = await ledger.jobs.open();
    const waiting = open.map(({ id, accountId, audioSeconds, doneSeconds }) => ({
      ...{ id, accountId },
      secondsLeft: Math.max(0, audioSeconds - (runner.doneSeconds(id) ?? doneSeconds)),
    }));
    return etaSeconds(waiting, engine.stats());
  }

  #progress({ id, status, audioSeconds, doneSeconds }: StoredJob): number {
    if (status === 'succeeded') return 1;
    const done = this.deps.runner.doneSeconds(id) ?? doneSeconds;
    return audioSeconds === 0 ? 0 : Math.min(NEARLY_DONE, done / audioSeconds);
  }
}

/** The webhook of a job is part of its request. */
function fingerprintOf(request: JobRequest): string {
  const { webhook } = request;
  const asked = fingerprint(request);
  if (webhook === null) return asked;
  return digestOfRequest([asked, webhook.url, webhook.isNew ? null : webhook.secret]);
}

function acceptedBefore(stored: StoredAnswer): JobTicket {
  if (stored.kind !== 'job') throw new Error('A transcription is answered under its own path.');
  return stored.ticket as JobTicket;
}
