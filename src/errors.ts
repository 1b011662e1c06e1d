/** The error table of the HTTP contract: every machine code and the one status it is sent with. */
export const STATUS_BY_CODE = {
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
} as const;

export type ErrorCode = keyof typeof STATUS_BY_CODE;

export interface VerbatimErrorOptions {
  /** The request field at fault, if one is. */
  param?: string;
  /** Whole seconds after which a retry makes sense (429, 503); at least 1. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** An error of the contract: safe to show to a client as it is. Anything else becomes `internal_error`. */
export class VerbatimError extends Error {
  override readonly name = 'VerbatimError';
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: VerbatimErrorOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.param = options.param ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }

  get status(): number {
    return STATUS_BY_CODE[this.code];
  }
}
