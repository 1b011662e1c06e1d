/** What /jobs takes and answers. */
import { Type, type Static } from 'typebox';
import type { JobTicket, WatchedJob } from '../../jobs/job-service.js';
import { jobBody } from '../../jobs/job-body.js';
import { JOB_STATUSES, type JobPlace, type JobStatus } from '../../ledger/jobs.js';
import { MOST_URL_CHARACTERS } from '../../webhooks/target.js';
import { cursorOf, datedPlaceOf } from '../schema/cursor.js';
import { checkedParameter, parameter } from '../schema/parameter.js';
import { id, invalid, oneOf, shape, textOrNull, timestamp, timestampOrNull } from '../schema/shape.js';
import { TranscribeRequest } from './transcribe-schema.js';
import { Transcription } from './transcription-schema.js';

/** `webhook_url` and `webhook_secret`, beside the fields of a transcription. */
export const WebhookFields = {
  webhook_url: Type.Optional(
    Type.String({
      maxLength: MOST_URL_CHARACTERS,
      description:
        'URL that is notified when the job ends, by a POST as in the Standard Webhooks specification. It ' +
        'must be http or https, and on the public internet unless the operator allows its host. Retried with ' +
        'growing pauses for a day, until it answers 2xx.',
      examples: ['https://example.org/verbatim'],
    }),
  ),
  webhook_secret: Type.Optional(
    Type.String({
      pattern: '^whsec_[A-Za-z0-9+/]+={0,2}$',
      description:
        '`whsec_` and 24 to 64 bytes in base64, which signs the message; only with `webhook_url`. Absent: ' +
        'one is generated, and returned once.',
      examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
    }),
  ),
};

export const JobRequestForm = shape({ ...TranscribeRequest.properties, ...WebhookFields });

const jobId = id('job', 'mvC0kFvXqzT1wR8yN5dE2Q');

export const AcceptedJob = shape({
  id: jobId,
  status: oneOf(['queued'], { examples: ['queued'] }),
  created_at: timestamp,
  webhook_secret: Type.Optional(
    Type.String({
      description:
        'The generated secret, if the request had `webhook_url` and no `webhook_secret`. Returned only in ' +
        'this answer and its repeats.',
      examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
    }),
  ),
});

export function acceptedJobBody({ id, createdAt, webhookSecret }: JobTicket): Static<typeof AcceptedJob> {
  return {
    ...{ id, status: 'queued', created_at: createdAt },
    ...(webhookSecret === null ? {} : { webhook_secret: webhookSecret }),
  };
}

const result = shape(
  {
    ...Transcription.properties,
    formatted: Type.Optional(
      Type.String({
        description: 'With `format` text, srt or vtt: the text or the subtitles, as `/transcribe` answers with them.',
        examples: ['WEBVTT\n\n00:00:00.240 --> 00:00:03.100\nHoy es domingo, dieciocho de mayo.\n'],
      }),
    ),
  },
  'The answer of `/transcribe`. Only for a job that succeeded, and not in lists.',
);

const error = shape(
  {
    code: Type.String({
      description: "One of the codes of the service's errors.",
      examples: ['invalid_audio'],
    }),
    message: Type.String({ examples: ['The audio has no samples.'] }),
    param: textOrNull({ examples: ['audio', null] }),
  },
  'Only for a job that failed. Nothing was charged.',
);

export const Job = shape({
  id: jobId,
  status: oneOf(JOB_STATUSES, { examples: ['running'] }),
  progress: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'Share of the audio that is done; 1 only when the job has succeeded.',
    examples: [0.42],
  }),
  created_at: timestamp,
  started_at: timestampOrNull,
  finished_at: timestampOrNull,
  eta_seconds: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum: 1,
    description:
      'Estimated seconds until the job is done, from the backlog and the measured speed; null when it has ' + 'ended.',
    examples: [37, null],
  }),
  model: textOrNull({
    description:
      'The speech model that made the result; before there is one, the one that was asked for. null: the default.',
    examples: ['base', null],
  }),
  result: Type.Optional(result),
  error: Type.Optional(error),
});

export const JobList = shape({
  jobs: Type.Array(Job, { description: 'Newest first, without their results.' }),
  next_cursor: textOrNull({
    description: 'Send it as `cursor` to get the next page; null: this is the last page.',
    examples: ['MjAyNi0xMS0yMFQxNzoyNDowMC4wMDBaIGpvYl9tdkMw', null],
  }),
});

/** `jobs`: one more than the page has, where there is one. */
export async function jobListBody(jobs: readonly WatchedJob[], limit: number): Promise<Static<typeof JobList>> {
  const page = jobs.slice(0, limit);
  const last = page.at(-1)?.job;
  return {
    jobs: await Promise.all(page.map(({ job, ...rest }) => jobBody({ ...rest, job: { ...job, outcome: null } }))),
    next_cursor: jobs.length > limit && last !== undefined ? jobCursor(last) : null,
  };
}

/** The message that a job has ended: https://www.standardwebhooks.com. */
export const JobEvent = shape({
  type: oneOf(['job.succeeded', 'job.failed', 'job.cancelled'], { examples: ['job.succeeded'] }),
  timestamp: Type.String({ ...timestamp, description: 'When the job ended.' }),
  data: Job,
});

export const JobId = parameter({
  name: 'id',
  in: 'path',
  required: true,
  description: "The job's id, as `POST /api/v1/jobs` answered it.",
  schema: Type.String(),
  example: 'job_mvC0kFvXqzT1wR8yN5dE2Q',
});

export const JobStatusFilter = checkedParameter({
  name: 'status',
  in: 'query',
  required: false,
  description: 'Only jobs with this status.',
  schema: Type.Unsafe<JobStatus>({ type: 'string', enum: [...JOB_STATUSES] }),
  example: 'running',
  refusal: `status must be one of: ${JOB_STATUSES.join(', ')}.`,
});

const PAGE = { minimum: 1, maximum: 100, default: 20 } as const;

export const JobLimit = checkedParameter({
  name: 'limit',
  in: 'query',
  required: false,
  description: 'Maximum number of jobs in one answer.',
  schema: Type.Integer(PAGE),
  example: 50,
  refusal: `limit must be one integer from ${PAGE.minimum} to ${PAGE.maximum}.`,
});

export const DEFAULT_JOB_LIMIT = PAGE.default;

export const JobCursor = checkedParameter({
  name: 'cursor',
  in: 'query',
  required: false,
  description: 'The `next_cursor` of the previous page.',
  schema: Type.String({ pattern: '^[A-Za-z0-9_-]{1,200}$' }),
  example: 'MjAyNi0xMS0yMFQxNzoyNDowMC4wMDBaIGpvYl9tdkMw',
  refusal: 'cursor must be the next_cursor of an earlier answer.',
});

/** For the page that comes behind this job. */
export function jobCursor({ createdAt, id }: JobPlace): string {
  return cursorOf(createdAt, id);
}

/** Throws `invalid_request`. */
export function jobPlaceOf(cursor: string): JobPlace {
  const place = datedPlaceOf(cursor, JobCursor);
  if (!place.id.startsWith('job_')) throw invalid(JobCursor.name, JobCursor.refusal);
  return place;
}
