/** The endpoints, as path items of the document. */
import { Days } from '../api/account-schema.js';
import { KeyId } from '../api/keys-schema.js';
import { IdempotencyKey } from '../idempotency-key.js';
import {
  CreditsRemaining,
  CreditsUsed,
  IdempotencyReplayed,
  ServerTiming,
  TranscriptionId,
} from '../transcription-headers.js';
import { errorsOf, type Guard } from '../error-table.js';
import { GivenRequestId, RequestId, RetryAfter, type ResponseHeader } from '../headers.js';
import type { Parameter } from '../parameter.js';
import { errorResponses, type InvalidRequestExample } from './error-responses.js';
import { examples, textExamples } from './examples.js';
import { openAiItems } from './openai-paths.js';
import { headerRefs, parameterRefs } from './references.js';

type Json = Record<string, unknown>;

const BEHIND_TOKEN: readonly Guard[] = ['http', 'token'];
const BEHIND_KEY: readonly Guard[] = [...BEHIND_TOKEN, 'key'];
const BEHIND_MANAGEMENT_KEY: readonly Guard[] = [...BEHIND_KEY, 'scope'];

const MISSING_AUDIO: InvalidRequestExample = {
  message: 'The field "audio" is missing; send one file.',
  param: 'audio',
};
const BAD_DAYS: InvalidRequestExample = { message: Days.refusal, param: Days.name };
const BAD_NAME: InvalidRequestExample = {
  message: 'The key name must have 1 to 100 characters after trimming.',
  param: 'name',
};

/** A path item; every request may name itself. */
function path(item: Json, ...parameters: Parameter[]): Json {
  return { parameters: parameterRefs(GivenRequestId, ...parameters), ...item };
}

/** The errors of an operation, which is known by its id. */
function errors(
  operation: string,
  guards: readonly Guard[],
  invalidRequest?: InvalidRequestExample,
): Record<string, Json> {
  return errorResponses(errorsOf(operation, guards), invalidRequest);
}

function content(type: string, schema: string, example = schema): Json {
  return {
    [type]: { schema: { $ref: `#/components/schemas/${schema}` }, examples: examples[example] },
  };
}

function answer(schema: string, description: string, headers: ResponseHeader[] = [], example = schema): Json {
  return {
    description,
    headers: headerRefs(RequestId, ...headers),
    content: content('application/json', schema, example),
  };
}

/** An answer that is not one of the JSON shapes. */
function document(type: string, description: string, schema: Json, example: unknown): Json {
  const headers = headerRefs(RequestId);
  return { description, headers, content: { [type]: { schema, example } } };
}

/** The same answer in JSON, and as the text of a file. */
const transcript: Json = {
  description: 'The transcript.',
  headers: headerRefs(
    ...[RequestId, ServerTiming, IdempotencyReplayed],
    ...[TranscriptionId, CreditsUsed, CreditsRemaining],
  ),
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
    'Multipart fields may come in any order, before or after the file. Credits are held before the audio is transcribed and ' +
    'spent when it is done; an error never charges. What can be refused early is refused before the body is read.',
  parameters: parameterRefs(IdempotencyKey),
  requestBody: { required: true, content: content('multipart/form-data', 'TranscribeRequest') },
  responses: {
    '200': transcript,
    ...errors('transcribe', BEHIND_KEY, MISSING_AUDIO),
  },
};

const accountPaths: Json = {
  '/api/v1/me': path({
    get: {
      tags: ['account'],
      operationId: 'getMe',
      summary: 'Who this key is, and its credits',
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
      summary: 'Every key of the account',
      description: 'Needs a management key.',
      responses: { '200': answer('KeyList', 'The keys.'), ...errors('listKeys', BEHIND_MANAGEMENT_KEY) },
    },
    post: {
      tags: ['keys'],
      operationId: 'createKey',
      summary: 'Make a plain key',
      description:
        'Needs a management key. Management keys are made by the command line or the dashboard only.',
      requestBody: { required: true, content: content('application/json', 'CreateKeyRequest') },
      responses: {
        '201': answer('CreatedKey', 'The key; its raw form is shown this once.'),
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
          'Needs a management key, which may revoke itself. What the key has in flight is aborted, answered 401 and not ' +
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
  ...accountPaths,
  ...keyPaths,
  ...Object.fromEntries(
    Object.entries(openAiItems).map(([template, { item, parameters }]) => [
      template,
      path(item, ...parameters),
    ]),
  ),
  ...servicePaths,
};
