/** The OpenAPI 3.1 document of the service; tests validate every answer they see against it. */
import { STATUS_BY_CODE, type ErrorCode } from '../../errors.js';
import { schemas } from './schemas.js';

type Json = Record<string, unknown>;

const schemaRef = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const headerRef = (name: string): Json => ({ $ref: `#/components/headers/${name}` });

const MESSAGES: Record<ErrorCode, string> = {
  invalid_request:
    'A malformed body, or a field that is missing, duplicate, unknown or out of range; `param` names it.',
  missing_api_key: 'No Authorization header, or another scheme than Bearer.',
  invalid_api_key: 'Unknown key, revoked key, or a key revoked while the request was in flight.',
  insufficient_credits: 'The balance cannot cover the audio. Nothing was transcribed or charged.',
  insufficient_scope: 'The key lacks the scope `keys:write`.',
  not_found: 'There is nothing at this path.',
  key_not_found: 'The account has no such key.',
  method_not_allowed: 'The path is known, the method is not; `Allow` lists those that are.',
  idempotency_conflict:
    'The Idempotency-Key was used for a different request, or the first is still running.',
  file_too_large: 'The file is over 100,000,000 bytes.',
  audio_too_long: 'The audio is longer than the service takes.',
  unsupported_media_type: 'The Content-Type is not the one this endpoint takes.',
  unsupported_audio_format: 'The bytes are not WAV, FLAC, MP3 or OGG.',
  invalid_audio: 'The right container, but broken, empty, or without samples.',
  unsupported_language: 'An unknown language, or one the installed model does not speak.',
  unsupported_translation: 'No installed model covers the pair of languages.',
  unsupported_diarization: 'Speakers cannot be told apart for this speech.',
  rate_limited: "The account's own limit on requests in flight.",
  internal_error: 'A bug of the service.',
  overloaded: 'The backlog is full.',
  shutting_down: 'The server is draining.',
};

const WITH_TOKEN: ErrorCode[] = ['missing_api_key', 'invalid_api_key', 'internal_error'];
const WITH_KEY: ErrorCode[] = [...WITH_TOKEN, 'shutting_down'];
const WITH_MANAGEMENT_KEY: ErrorCode[] = [...WITH_KEY, 'insufficient_scope'];

/** One response a status, with every code that status may carry as an example. */
function errorResponses(codes: readonly ErrorCode[]): Record<string, Json> {
  const responses: Record<string, Json> = {};
  for (const status of [...new Set(codes.map((code) => STATUS_BY_CODE[code]))].sort()) {
    const own = codes.filter((code) => STATUS_BY_CODE[code] === status);
    responses[String(status)] = {
      description: own.map((code) => `\`${code}\`: ${MESSAGES[code]}`).join('\n\n'),
      headers: {
        'X-Request-Id': headerRef('RequestId'),
        ...(status === 401 ? { 'WWW-Authenticate': headerRef('WwwAuthenticate') } : {}),
        ...(status === 405 ? { Allow: headerRef('Allow') } : {}),
        ...(status === 429 || status === 503 ? { 'Retry-After': headerRef('RetryAfter') } : {}),
      },
      content: {
        'application/json': {
          schema: schemaRef('Error'),
          examples: Object.fromEntries(own.map((code) => [code, { value: errorExample(code) }])),
        },
      },
    };
  }
  return responses;
}

function errorExample(code: ErrorCode): Json {
  return { error: { code, message: MESSAGES[code], param: null, request_id: 'req_8f1c2a' } };
}

function answer(schema: string, description: string, extraHeaders: Json = {}): Json {
  return {
    description,
    headers: { 'X-Request-Id': headerRef('RequestId'), ...extraHeaders },
    content: { 'application/json': { schema: schemaRef(schema) } },
  };
}

const transcribe: Json = {
  operationId: 'transcribe',
  summary: 'Transcribe an audio file',
  description:
    'Multipart fields may come in any order, before or after the file. Credits are held before the audio is transcribed and ' +
    'spent when it is done; an error never charges.',
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description:
        'A repeat within 24 hours by the same account returns the stored answer and charges nothing.',
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
    },
  ],
  requestBody: {
    required: true,
    content: { 'multipart/form-data': { schema: schemaRef('TranscribeRequest') } },
  },
  responses: {
    '200': answer('Transcription', 'The transcript.', {
      'Server-Timing': headerRef('ServerTiming'),
      'Idempotency-Replayed': headerRef('IdempotencyReplayed'),
    }),
    ...errorResponses([
      ...WITH_KEY,
      'invalid_request',
      'insufficient_credits',
      'idempotency_conflict',
      'file_too_large',
      'audio_too_long',
      'unsupported_media_type',
      'unsupported_audio_format',
      'invalid_audio',
      'unsupported_language',
      'unsupported_translation',
      'unsupported_diarization',
      'rate_limited',
      'overloaded',
    ]),
  },
};

const keyId: Json = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

const paths: Json = {
  '/api/v1/me': {
    get: {
      operationId: 'getMe',
      summary: 'Who this key is, and its credits',
      responses: { '200': answer('Me', 'The account and the key.'), ...errorResponses(WITH_KEY) },
    },
  },
  '/api/v1/usage': {
    get: {
      operationId: 'getUsage',
      summary: 'Billed minutes by UTC day and endpoint',
      parameters: [
        {
          name: 'days',
          in: 'query',
          required: false,
          description: 'Today counts as one of them.',
          schema: { type: 'integer', minimum: 1, maximum: 90, default: 30 },
        },
      ],
      responses: {
        '200': answer('Usage', 'Usage of the account.'),
        ...errorResponses([...WITH_KEY, 'invalid_request']),
      },
    },
  },
  '/api/v1/transcribe': { post: transcribe },
  '/api/v1/keys': {
    get: {
      operationId: 'listKeys',
      summary: 'Every key of the account',
      description: 'Needs a management key.',
      responses: { '200': answer('KeyList', 'The keys.'), ...errorResponses(WITH_MANAGEMENT_KEY) },
    },
    post: {
      operationId: 'createKey',
      summary: 'Make a plain key',
      description: 'Needs a management key.',
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemaRef('CreateKeyRequest') } },
      },
      responses: {
        '201': answer('CreatedKey', 'The key; its raw form is shown this once.'),
        ...errorResponses([...WITH_MANAGEMENT_KEY, 'invalid_request', 'unsupported_media_type']),
      },
    },
  },
  '/api/v1/keys/{id}': {
    delete: {
      operationId: 'revokeKey',
      summary: 'Revoke a key, at once',
      description:
        'Needs a management key. Aborts what the key has in flight. A second call returns the first time.',
      parameters: [keyId],
      responses: {
        '200': answer('RevokedKey', 'The key is revoked.'),
        ...errorResponses([...WITH_MANAGEMENT_KEY, 'invalid_request', 'key_not_found']),
      },
    },
  },
  '/healthz': {
    get: {
      operationId: 'getHealth',
      summary: 'The process is up',
      security: [],
      responses: { '200': answer('Health', 'Up.') },
    },
  },
  '/readyz': {
    get: {
      operationId: 'getReadiness',
      summary: 'Models loaded, database writable, not draining',
      security: [],
      responses: {
        '200': answer('Readiness', 'Ready.'),
        '503': answer('Readiness', 'Not ready.', { 'Retry-After': headerRef('RetryAfter') }),
      },
    },
  },
  '/metrics': {
    get: {
      operationId: 'getMetrics',
      summary: 'Prometheus metrics',
      description: 'Needs the configured bearer token, if one is configured.',
      security: [],
      responses: {
        '200': {
          description: 'Prometheus text format.',
          content: { 'text/plain': { schema: { type: 'string' } } },
        },
        ...errorResponses(WITH_TOKEN),
      },
    },
  },
};

const headers: Json = {
  RequestId: {
    description: "The client's own X-Request-Id if it was sane, else a new one.",
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  WwwAuthenticate: { required: true, schema: { type: 'string', const: 'Bearer' } },
  Allow: { required: true, schema: { type: 'string' } },
  RetryAfter: {
    description: 'Whole seconds, computed from the measured backlog.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  ServerTiming: {
    description: 'upload, queue, decode, speech, translate, each with dur in milliseconds.',
    required: true,
    schema: {
      type: 'string',
      examples: ['upload;dur=12, queue;dur=3, decode;dur=5, speech;dur=310, translate;dur=0'],
    },
  },
  IdempotencyReplayed: { required: false, schema: { type: 'string', const: 'true' } },
};

export function openApiDocument(version: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Verbatim',
      version,
      summary: 'Self-hosted speech transcription and translation',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'A key of the form vb_ and 43 URL-safe characters.',
        },
      },
      headers,
      schemas,
    },
  };
}
