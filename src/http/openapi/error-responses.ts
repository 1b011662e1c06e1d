/** The error table, as responses of the document: one a status, with every code it may carry as an example. */
import type { ErrorCode } from '../../errors.js';
import { STATUS_BY_CODE } from '../status.js';
import { MANAGEMENT_SCOPE } from '../../ledger/scopes.js';

type Json = Record<string, unknown>;

interface Explanation {
  meaning: string;
  message: string;
  param?: string;
}

export const EXPLANATIONS: Readonly<Record<ErrorCode, Explanation>> = {
  invalid_request: {
    meaning: 'Malformed, or a field that is missing, duplicate, unknown or out of range; `param` names it.',
    message: 'The Host header is missing.',
  },
  missing_api_key: {
    meaning: 'No Authorization header, or another scheme than Bearer.',
    message: 'Send the API key as "Authorization: Bearer <key>".',
  },
  invalid_api_key: {
    meaning: 'Unknown key, revoked key, or a key revoked while the request was in flight.',
    message: 'The API key is unknown or revoked.',
  },
  insufficient_credits: {
    meaning: 'The balance cannot cover the audio. Nothing was transcribed or charged.',
    message: 'This request costs 3 credits; the account has 1.',
  },
  insufficient_scope: {
    meaning: `The key lacks the scope \`${MANAGEMENT_SCOPE}\`.`,
    message: `This endpoint needs a key with the scope ${MANAGEMENT_SCOPE}.`,
  },
  not_found: { meaning: 'There is nothing at this path.', message: 'There is nothing at this path.' },
  key_not_found: {
    meaning: 'The account has no such key.',
    message: 'The account has no key with this id.',
  },
  method_not_allowed: {
    meaning: 'The path is known, the method is not; `Allow` lists those that are.',
    message: '/api/v1/me answers GET, HEAD, OPTIONS.',
  },
  idempotency_conflict: {
    meaning: 'The Idempotency-Key was used for a different request, or the first is still running.',
    message: 'This Idempotency-Key was used for a different request.',
    param: 'Idempotency-Key',
  },
  file_too_large: {
    meaning: 'The file is over 100,000,000 bytes.',
    message: 'The file may have at most 100000000 bytes.',
    param: 'audio',
  },
  audio_too_long: {
    meaning: 'The audio is longer than the service takes.',
    message: 'The audio is longer than the limit of 14400 s.',
    param: 'audio',
  },
  unsupported_media_type: {
    meaning: 'The Content-Type is not the one this endpoint takes, or the body is encoded.',
    message: 'Send the body as multipart/form-data.',
  },
  unsupported_audio_format: {
    meaning: 'The bytes are not WAV, FLAC, MP3 or OGG.',
    message: 'The audio is not WAV, FLAC, MP3 or OGG.',
    param: 'audio',
  },
  invalid_audio: {
    meaning: 'The right container, but broken, empty, or without samples.',
    message: 'The audio has no samples.',
    param: 'audio',
  },
  unsupported_language: {
    meaning: 'An unknown language, or one the installed model does not speak.',
    message: '"tlh" is not an ISO 639 language code that the service knows.',
    param: 'language',
  },
  unsupported_translation: {
    meaning: 'No installed model covers the pair of languages.',
    message: 'No installed model translates "es" to "ja".',
    param: 'translate_to',
  },
  unsupported_diarization: {
    meaning: 'Speakers cannot be told apart for this speech.',
    message: 'Speakers cannot be told apart in this speech.',
    param: 'diarize',
  },
  rate_limited: {
    meaning: "The account's own limit on requests in flight, or the limit on connections of one address.",
    message: 'The account has 64 requests in flight; its limit is 64.',
  },
  internal_error: { meaning: 'A bug of the service.', message: 'Something went wrong on the server.' },
  overloaded: {
    meaning: 'The backlog is full, the machine has run out of something, or the request took too long.',
    message: 'The backlog is full.',
  },
  shutting_down: {
    meaning: 'The server is draining.',
    message: 'The server is shutting down; try again shortly.',
  },
};

/** What a malformed request to one endpoint is most often told. */
export interface InvalidRequestExample {
  message: string;
  param: string;
}

export function errorResponses(
  codes: readonly ErrorCode[],
  invalidRequest?: InvalidRequestExample,
): Record<string, Json> {
  const responses: Record<string, Json> = {};
  for (const status of [...new Set(codes.map((code) => STATUS_BY_CODE[code]))].sort()) {
    const own = codes.filter((code) => STATUS_BY_CODE[code] === status);
    responses[String(status)] = errorResponse(status, own, invalidRequest);
  }
  return responses;
}

export function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  invalidRequest?: InvalidRequestExample,
): Json {
  const own = (code: ErrorCode): { message: string; param?: string } =>
    (code === 'invalid_request' ? invalidRequest : undefined) ?? EXPLANATIONS[code];
  return {
    description: codes.map((code) => `\`${code}\`: ${EXPLANATIONS[code].meaning}`).join('\n\n'),
    headers: {
      'X-Request-Id': headerRef('RequestId'),
      ...(status === 401 ? { 'WWW-Authenticate': headerRef('WwwAuthenticate') } : {}),
      ...(status === 405 ? { Allow: headerRef('Allow') } : {}),
      ...(status === 429 || status === 503 ? { 'Retry-After': headerRef('RetryAfter') } : {}),
    },
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: errorExample(code, own(code)) }])),
      },
    },
  };
}

export function headerRef(name: string): Json {
  return { $ref: `#/components/headers/${name}` };
}

function errorExample(
  code: ErrorCode,
  { message, param = null }: { message: string; param?: string | null },
) {
  return { error: { code, message, param, request_id: 'req_4f1d7c2e-8a53-4b8e-9a0f-2f6d1c7b9e10' } };
}
