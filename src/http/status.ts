/** The error table of the contract: the one status that each code is sent with. */
import type { ErrorCode } from '../errors.js';

export const STATUS_BY_CODE: Readonly<Record<ErrorCode, number>> = {
  invalid_request: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  insufficient_credits: 402,
  insufficient_scope: 403,
  not_found: 404,
  key_not_found: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  file_too_large: 413,
  audio_too_long: 413,
  unsupported_media_type: 415,
  unsupported_audio_format: 415,
  invalid_audio: 422,
  unsupported_language: 422,
  unsupported_translation: 422,
  unsupported_diarization: 422,
  rate_limited: 429,
  internal_error: 500,
  overloaded: 503,
  shutting_down: 503,
};
