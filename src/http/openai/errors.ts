/** Errors as OpenAI's clients read them: other members, and where theirs differ other statuses and codes. */
import { Type, type Static } from 'typebox';
import { ERROR_CODES, type ErrorCode, type VerbatimError } from '../../errors.js';
import type { ErrorForm } from '../app/error-handler.js';
import { ERROR_TABLE } from '../errors/error-table.js';
import { headerOf, responseHeader } from '../schema/headers.js';
import { oneOf, shape, textOrNull } from '../schema/shape.js';

export const OPENAI_PREFIX = '/v1/';

const TYPES = ['invalid_request_error', 'insufficient_quota', 'rate_limit_error', 'server_error'] as const;

interface OpenAiRow {
  status: number;
  type: (typeof TYPES)[number];
  code: string;
}

/** Errors with another status and code than the service's own. */
const OTHERWISE: Partial<Record<ErrorCode, Partial<OpenAiRow>>> = {
  insufficient_credits: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
  unsupported_audio_format: { status: 400, code: 'invalid_file_format' },
  invalid_audio: { status: 400 },
  unsupported_language: { status: 400 },
  unsupported_model: { status: 404, code: 'model_not_found' },
  unsupported_translation: { status: 400 },
  unsupported_diarization: { status: 400 },
  rate_limited: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
};

/** Fields by the names that they have here; null: the request has no such field. */
const PARAMS: Readonly<Record<string, string | null>> = {
  audio: 'file',
  translate_to: null,
  diarize: 'response_format',
  timestamps: 'timestamp_granularities[]',
};

/**
 * A retry may succeed a little later; after a 409 only if the first request of its key still runs, which only a retry
 * shows.
 */
const PASSING: readonly ErrorCode[] = [
  ...(['idempotency_conflict', 'rate_limited', 'internal_error'] as const),
  ...(['overloaded', 'shutting_down'] as const),
];

export function openAiRow(code: ErrorCode): OpenAiRow {
  const { status } = ERROR_TABLE[code];
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  return { status, type, code, ...OTHERWISE[code] };
}

const codes = [...new Set(ERROR_CODES.map((code) => openAiRow(code).code))];

export const OpenAiErrorBody = shape({
  error: shape({
    message: Type.String({ examples: ['The field "file" is missing; send one file.'] }),
    type: oneOf(TYPES, { description: 'As OpenAI names it.', examples: ['invalid_request_error'] }),
    param: textOrNull({ description: 'The field at fault, if one is.', examples: ['file', null] }),
    code: oneOf(codes, { description: 'Stable, for programs.', examples: ['invalid_request'] }),
  }),
});

export const ShouldRetry = responseHeader({
  name: 'X-Should-Retry',
  description: "false where the same request would be refused again: OpenAI's clients then do not repeat it.",
  required: false,
  schema: Type.Unsafe<'false'>({ type: 'string', const: 'false' }),
  example: 'false',
});

export function openAiErrorBody(error: VerbatimError): Static<typeof OpenAiErrorBody> {
  const { type, code } = openAiRow(error.code);
  const param = error.param === null ? null : (PARAMS[error.param] ?? (error.param in PARAMS ? null : error.param));
  return { error: { message: error.message, type, param, code } };
}

export const openAiError: ErrorForm = (error) => ({
  status: openAiRow(error.code).status,
  body: openAiErrorBody(error),
  headers: PASSING.includes(error.code) ? {} : headerOf(ShouldRetry, 'false'),
});
