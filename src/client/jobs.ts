/** Transcriptions that are answered later. */
import { randomUUID } from 'node:crypto';
import { transcribeForm } from './form.js';
import { DoublingPause, type Sleep } from './pause.js';
import type { CallOptions, SendRequest, TranscribeInput, TranscribeOptions } from './requests.js';
import { searchOf } from './search.js';
import type { AcceptedJob, Job, JobList } from './types.js';

export interface CreateJobInput extends TranscribeInput {
  /** Where to post the end of the job. */
  webhookUrl?: string;
  /** `whsec_…`; absent: the service makes one, and returns it in its answer. */
  webhookSecret?: string;
}

export interface JobQuery {
  status?: Job['status'];
  /** 1 to 100; default 20. */
  limit?: number;
  /** The `next_cursor` of the page before. */
  cursor?: string;
}

export interface WaitOptions extends CallOptions {
  /** Longest pause between two looks, in milliseconds; default 10,000. */
  maxPauseMs?: number;
  /** Called at every look. */
  onProgress?: (job: Job) => void;
}

const FIRST_PAUSE_MS = 250;

/** A job that has ended without a result. */
export class JobEndedError extends Error {
  override readonly name = 'JobEndedError';

  constructor(readonly job: Job) {
    super(job.error?.message ?? `The job was ${job.status}.`);
  }

  /** Of the service's errors; null when the job was cancelled. */
  get code(): string | null {
    return this.job.error?.code ?? null;
  }
}

export class Jobs {
  constructor(
    private readonly send: SendRequest,
    private readonly sleep?: Sleep,
  ) {}

  /** Resolves when the file is there and its credits are held. */
  async create(input: CreateJobInput, options: TranscribeOptions = {}): Promise<AcceptedJob> {
    const body = await transcribeForm(input);
    if (input.webhookUrl !== undefined) body.append('webhook_url', input.webhookUrl);
    if (input.webhookSecret !== undefined) body.append('webhook_secret', input.webhookSecret);
    const headers = { 'idempotency-key': options.idempotencyKey ?? randomUUID() };
    return this.send('POST', '/api/v1/jobs', { signal: options.signal, headers, body });
  }

  get(id: string, options: CallOptions = {}): Promise<Job> {
    return this.send('GET', pathOf(id), options);
  }

  list(query: JobQuery = {}, options: CallOptions = {}): Promise<JobList> {
    return this.send('GET', `/api/v1/jobs${searchOf({ ...query })}`, options);
  }

  /**
   * Cancels a job that has not ended, uncharged, or deletes one that has. Not repeated after a lost answer: the repeat
   * of a cancellation would delete the job.
   */
  cancel(id: string, { signal }: CallOptions = {}): Promise<Job> {
    return this.send('DELETE', pathOf(id), { signal, repeatable: false });
  }

  /**
   * Looks again and again until the job has succeeded. Rejects with JobEndedError when it has failed or was cancelled.
   */
  async wait(id: string, { signal, maxPauseMs = 10_000, onProgress }: WaitOptions = {}): Promise<Job> {
    const pause = new DoublingPause(FIRST_PAUSE_MS, maxPauseMs, this.sleep);
    for (;;) {
      const job = await this.get(id, signal === undefined ? {} : { signal });
      onProgress?.(job);
      if (job.status === 'succeeded') return job;
      if (job.finished_at !== null) throw new JobEndedError(job);
      await pause.pass(Math.min(pause.next(), (job.eta_seconds ?? 1) * 1000), signal);
    }
  }
}

function pathOf(id: string): string {
  return `/api/v1/jobs/${encodeURIComponent(id)}`;
}
