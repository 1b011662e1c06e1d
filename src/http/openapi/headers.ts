/** Headers that requests and answers carry. */
import { Days } from '../api/account-schema.js';

type Json = Record<string, unknown>;

const requestId: Json = { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' };

export const parameters: Json = {
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    required: false,
    description:
      "The client's own id of the request; one that does not match the pattern is replaced, not refused.",
    schema: requestId,
    example: 'order-1138',
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A repeat within 24 hours by the same account returns the stored answer and charges nothing. The whole request (fields ' +
      'and audio) must be the same. A request that failed stored nothing and may be repeated under the same key.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
    example: '0f0b2c1e-6a57-4c39-9a53-0d8a9d0b7c11',
  },
  Days: {
    name: 'days',
    in: 'query',
    required: false,
    description: 'Length of the window in UTC days; today counts as one of them.',
    schema: Days,
    example: 7,
  },
  KeyId: {
    name: 'id',
    in: 'path',
    required: true,
    description: "The key's id, as `GET /api/v1/keys` lists it.",
    schema: { type: 'string' },
    example: 'key_x1ZtJ0m4k9Qe2Lw7',
  },
};

export const headers: Json = {
  RequestId: {
    description:
      "The client's own X-Request-Id if it was sane, else a new one. Errors repeat it in the body.",
    required: true,
    schema: requestId,
    example: 'req_4f1d7c2e-8a53-4b8e-9a0f-2f6d1c7b9e10',
  },
  WwwAuthenticate: {
    description: 'The scheme to use.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
  Allow: {
    description: 'The methods that the path knows.',
    required: true,
    schema: { type: 'string' },
    example: 'GET, HEAD, OPTIONS',
  },
  RetryAfter: {
    description: 'Whole seconds after which a retry makes sense, computed from the measured backlog.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 12,
  },
  ServerTiming: {
    description:
      'upload, queue, decode, speech and translate, each with dur in milliseconds. Decode is reading the file and speech the ' +
      'model; both add up the time of all windows, which run side by side.',
    required: true,
    schema: {
      type: 'string',
      pattern:
        '^upload;dur=[\\d.]+, queue;dur=[\\d.]+, decode;dur=[\\d.]+, speech;dur=[\\d.]+, translate;dur=[\\d.]+$',
    },
    example: 'upload;dur=12.0, queue;dur=3.1, decode;dur=5.2, speech;dur=310.4, translate;dur=0.0',
  },
  IdempotencyReplayed: {
    description: 'Present when the answer is the stored one of an earlier request.',
    required: false,
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
};
