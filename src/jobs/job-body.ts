/** A job in the words of the contract, and the message that it has ended. */
import type { JobError, JobStatus, StoredJob } from '../ledger/jobs.js';
import { answerText } from '../transcription/answer-text.js';
import { jsonText } from '../transcription/json-pieces.js';
import { resultOf } from '../transcription/result.js';
import { transcriptionBody, type TranscriptionBody } from '../transcription/transcription-body.js';
import type { WatchedJob } from './job-service.js';
import { optionsOf } from './stored-options.js';

/** A longer message has the job without its result, which is to be fetched. */
const MOST_PAYLOAD_CHARACTERS = 262_144;

interface JobResultBody extends TranscriptionBody {
  formatted?: string;
}

export interface JobBody {
  id: string;
  status: JobStatus;
  progress: number;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  model: string | null;
  eta_seconds: number | null;
  result?: JobResultBody;
  error?: JobError;
}

export async function jobBody({ job, progress, etaSeconds }: WatchedJob): Promise<JobBody> {
  return {
    ...{ id: job.id, status: job.status, progress: Math.round(progress * 1000) / 1000 },
    ...{ created_at: job.createdAt, started_at: job.startedAt, finished_at: job.finishedAt },
    eta_seconds: etaSeconds,
    model: modelOfJob(job),
    ...(job.outcome === null ? {} : { result: await resultBody(job.outcome, job) }),
    ...(job.error === null ? {} : { error: { ...job.error } }),
  };
}

/** That made its result, else that it asked for; null: the default model, or one that was not noted. */
export function modelOfJob({ model, options }: Pick<StoredJob, 'model' | 'options'>): string | null {
  return model ?? optionsOf(options).model;
}

async function resultBody(
  { result: stored, charge }: NonNullable<StoredJob['outcome']>,
  { options }: StoredJob,
): Promise<JobResultBody> {
  const transcription = resultOf(stored, charge);
  const { format } = optionsOf(options);
  const body = transcriptionBody(transcription);
  return format === 'json' ? body : { ...body, formatted: await answerText(transcription, format) };
}

/** The same at every attempt: https://www.standardwebhooks.com. */
export async function webhookPayload(job: StoredJob): Promise<string> {
  const whole = await jsonText(await eventBody(job));
  return whole.length <= MOST_PAYLOAD_CHARACTERS ? whole : JSON.stringify(await eventBody({ ...job, outcome: null }));
}

async function eventBody(job: StoredJob): Promise<object> {
  const progress = job.status === 'succeeded' ? 1 : job.audioSeconds > 0 ? job.doneSeconds / job.audioSeconds : 0;
  const data = await jobBody({ job, progress: Math.min(1, progress), etaSeconds: null });
  return { type: `job.${job.status}`, timestamp: job.finishedAt, data };
}
