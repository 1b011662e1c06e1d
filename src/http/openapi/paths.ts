/** The endpoints, as path items of the document. */
import { Days } from '../api/account-schema.js';
import { JobCursor, JobId, JobLimit, JobStatusFilter } from '../api/jobs-schema.js';
import { KeyId } from '../api/keys-schema.js';
import { IdempotencyKey } from '../app/idempotency-key.js';
import { IdempotencyReplayed, TRANSCRIPT_HEADERS } from '../transcripts/transcription-headers.js';
import { Location, RequestId, RetryAfter } from '../schema/headers.js';
import { transcriptPaths } from './transcript-paths.js';
import { adminPaths } from './admin-paths.js';
import { livePaths } from './live-paths.js';
import type { InvalidRequestExample } from './error-responses.js';
import { textExamples } from './examples.js';
import { openAiItems } from './openai-paths.js';
import {
  answer,
  BEHIND_KEY,
  BEHIND_MANAGEMENT_KEY,
  BEHIND_TOKEN,
  content,
  document,
  errors,
  path,
} from './path-items.js';
import { headerRefs, parameterRefs } from './references.js';

type Json = Record<string, unknown>;

const MISSING_AUDIO: InvalidRequestExample = {
  message: 'The field "audio" is missing; send one file.',
  param: 'audio',
};
const BAD_DAYS: InvalidRequestExample = { message: Days.refusal, param: Days.name };
const BAD_LIMIT: InvalidRequestExample = { message: JobLimit.refusal, param: JobLimit.name };
const BAD_NAME: InvalidRequestExample = {
  message: 'The key name must have 1 to 100 characters after trimming.',
  param: 'name',
};

/** The same answer in JSON, and as the text of a file. */
const transcript: Json = {
  description: 'The transcript.',
  headers: headerRefs(RequestId, ...TRANSCRIPT_HEADERS),
  content: {
    ...content('application/json', 'Transcription'),
    ...Object.fromEntries(
      Object.entries(textExamples).map(([type, example]) => [type, { schema: { type: 'string' }, example }]),
    ),
  },
};

const transcribe: Json = {
  tags: ['transcription'],
  operationId: 'transcribe',
  summary: 'Transcribe an audio file',
  description:
    'Multipart fields may come in any order, before or after the file. Credits are held before the audio ' +
    'is transcribed and ' +
    'spent when it is done; an error never charges. What can be refused early is refused before the body is read.',
  parameters: parameterRefs(IdempotencyKey),
  requestBody: { required: true, content: content('multipart/form-data', 'TranscribeRequest') },
  responses: {
    '200': transcript,
    ...errors('transcribe', BEHIND_KEY, MISSING_AUDIO),
  },
};

const jobEnded: Json = {
  tags: ['jobs'],
  operationId: 'jobEnded',
  summary: 'A job has ended',
  description:
    'Sent to `webhook_url` after the Standard Webhooks specification: `webhook-id` stays the same however ' +
    'often it is sent, ' +
    '`webhook-signature` is made of id, `webhook-timestamp` and body with the secret. Over 262,144 characters it ' +
    'comes without `result`.',
  security: [],
  requestBody: { required: true, content: content('application/json', 'JobEvent') },
  responses: {
    '200': {
      description: 'Any 2xx: accepted. 410: not sent again. Anything else, redirects included: retried.',
    },
  },
};

const accountPaths: Json = {
  '/api/v1/me': path({
    get: {
      tags: ['account'],
      operationId: 'getMe',
      summary: 'The account of the key, and its credits',
      responses: { '200': answer('Me', 'The account and the key.'), ...errors('getMe', BEHIND_KEY) },
    },
  }),
  '/api/v1/usage': path({
    get: {
      tags: ['account'],
      operationId: 'getUsage',
      summary: 'Billed minutes by UTC day and endpoint',
      description: 'Minutes are started minutes, as billed: the sums of both lists equal `total_minutes`.',
      parameters: parameterRefs(Days),
      responses: {
        '200': answer('Usage', 'Usage of the account.'),
        ...errors('getUsage', BEHIND_KEY, BAD_DAYS),
      },
    },
  }),
};

const keyPaths: Json = {
  '/api/v1/keys': path({
    get: {
      tags: ['keys'],
      operationId: 'listKeys',
      summary: 'All keys of the account',
      description: 'Needs a management key.',
      responses: { '200': answer('KeyList', 'The keys.'), ...errors('listKeys', BEHIND_MANAGEMENT_KEY) },
    },
    post: {
      tags: ['keys'],
      operationId: 'createKey',
      summary: 'Create a plain key',
      description: 'Needs a management key. Only the command line and the dashboard create management keys.',
      requestBody: { required: true, content: content('application/json', 'CreateKeyRequest') },
      responses: {
        '201': answer('CreatedKey', 'The key. `raw_key` is returned only this once.'),
        ...errors('createKey', BEHIND_MANAGEMENT_KEY, BAD_NAME),
      },
    },
  }),
  '/api/v1/keys/{id}': path(
    {
      delete: {
        tags: ['keys'],
        operationId: 'revokeKey',
        summary: 'Revoke a key, at once',
        description:
          'Needs a management key, which may revoke itself. What the key has in flight is aborted, ' +
          'answered 401 and not ' +
          'charged; its usage is kept. A second call returns the time of the first.',
        responses: {
          '200': answer('RevokedKey', 'The key is revoked.'),
          ...errors('revokeKey', BEHIND_MANAGEMENT_KEY),
        },
      },
    },
    KeyId,
  ),
};

const jobPaths: Json = {
  '/api/v1/jobs': path({
    post: {
      tags: ['jobs'],
      operationId: 'createJob',
      summary: 'Transcribe an audio file later',
      description:
        'Takes what `/transcribe` takes, refuses what it refuses, and answers as soon as the file is ' +
        'measured and its credits are held. ' +
        "The job is worked on in turn with other accounts, behind its own account's requests. It survives a restart " +
        'of the service. ' +
        'Credits are spent when it succeeds, and released when it fails, is cancelled, or its key is revoked before.',
      parameters: parameterRefs(IdempotencyKey),
      requestBody: { required: true, content: content('multipart/form-data', 'CreateJobRequest') },
      responses: {
        '202': answer('AcceptedJob', 'The job waits for its turn.', [Location, IdempotencyReplayed]),
        ...errors('createJob', BEHIND_KEY, MISSING_AUDIO),
      },
      callbacks: {
        ended: { '{$request.body#/webhook_url}': { post: jobEnded } },
      },
    },
    get: {
      tags: ['jobs'],
      operationId: 'listJobs',
      summary: "The account's jobs, newest first",
      parameters: parameterRefs(JobStatusFilter, JobLimit, JobCursor),
      responses: {
        '200': answer('JobList', 'A page of jobs.'),
        ...errors('listJobs', BEHIND_KEY, BAD_LIMIT),
      },
    },
  }),
  '/api/v1/jobs/{id}': path(
    {
      get: {
        tags: ['jobs'],
        operationId: 'getJob',
        summary: 'A job, with its result when it has succeeded',
        responses: { '200': answer('Job', 'The job.'), ...errors('getJob', BEHIND_KEY) },
      },
      delete: {
        tags: ['jobs'],
        operationId: 'deleteJob',
        summary: 'Cancel a job, or delete one that has ended',
        description:
          'A job that has not ended is cancelled at once, and not charged. One that has ended is deleted ' +
          'with its result, and sends no more webhooks.',
        responses: {
          '200': answer('Job', 'The job, as it is now or was when it was deleted.'),
          ...errors('deleteJob', BEHIND_KEY),
        },
      },
    },
    JobId,
  ),
};

const METRICS = 'verbatim_http_requests_total{method="GET",route="/api/v1/me",status="200"} 1\n';

const servicePaths: Json = {
  '/healthz': path({
    get: {
      tags: ['service'],
      operationId: 'getHealth',
      summary: 'The process is up',
      security: [],
      responses: { '200': answer('Health', 'Up.'), ...errors('getHealth', ['http']) },
    },
  }),
  '/readyz': path({
    get: {
      tags: ['service'],
      operationId: 'getReadiness',
      summary: 'Models loaded, database and uploads writable, not draining',
      security: [],
      responses: {
        '200': answer('Readiness', 'Ready.'),
        '503': answer('Readiness', 'Not ready.', [RetryAfter], 'Unreadiness'),
        ...errors('getReadiness', ['http']),
      },
    },
  }),
  '/metrics': path({
    get: {
      tags: ['service'],
      operationId: 'getMetrics',
      summary: 'Prometheus metrics',
      description: 'Needs the configured bearer token, if one is configured.',
      security: [{}, { metricsToken: [] }],
      responses: {
        '200': document('text/plain', 'Prometheus text format.', { type: 'string' }, METRICS),
        ...errors('getMetrics', BEHIND_TOKEN),
      },
    },
  }),
  '/openapi.json': path({
    get: {
      tags: ['service'],
      operationId: 'getOpenApi',
      summary: 'This document',
      security: [],
      responses: {
        '200': document('application/json', 'OpenAPI 3.1.', { type: 'object' }, { openapi: '3.1.0' }),
        ...errors('getOpenApi', ['http']),
      },
    },
  }),
  '/docs': path({
    get: {
      tags: ['service'],
      operationId: 'getDocs',
      summary: 'This document as a page, which needs no internet',
      security: [],
      responses: {
        '200': document('text/html', 'A page.', { type: 'string' }, '<!doctype html>'),
        ...errors('getDocs', ['http']),
      },
    },
  }),
};

export const paths: Json = {
  '/api/v1/transcribe': path({ post: transcribe }),
  ...jobPaths,
  ...transcriptPaths,
  ...accountPaths,
  ...keyPaths,
  ...adminPaths,
  ...Object.fromEntries(
    Object.entries(openAiItems).map(([template, { item, parameters }]) => [template, path(item, ...parameters)]),
  ),
  ...livePaths,
  ...servicePaths,
};
