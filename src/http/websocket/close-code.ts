import type { ErrorCode } from '../../errors.js';

/** Clients of Deepgram connect again after every code but this one. */
const NORMAL = 1000;
const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;
const INTERNAL_ERROR = 1011;

const CODES: Partial<Record<ErrorCode, number>> = {
  audio_too_long: NORMAL,
  shutting_down: GOING_AWAY,
  invalid_api_key: POLICY_VIOLATION,
  account_suspended: POLICY_VIOLATION,
  insufficient_credits: POLICY_VIOLATION,
  // What a client sends is no audio.
  invalid_audio: POLICY_VIOLATION,
  unsupported_audio_format: POLICY_VIOLATION,
};

/** Of a WebSocket whose live session ends with an error. */
export function closeCodeOf({ code }: { code: ErrorCode }): number {
  return CODES[code] ?? INTERNAL_ERROR;
}
