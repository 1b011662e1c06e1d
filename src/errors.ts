/** Every machine code of the contract. Each transport translates them. */
export const ERROR_CODES = [
  'invalid_request',
  'missing_api_key',
  'invalid_api_key',
  'insufficient_credits',
  'insufficient_scope',
  'account_suspended',
  'not_found',
  'key_not_found',
  'account_not_found',
  'job_not_found',
  'transcript_not_found',
  'share_not_found',
  'model_not_found',
  'method_not_allowed',
  'idempotency_conflict',
  'conflict',
  'library_full',
  'file_too_large',
  'audio_too_long',
  'unsupported_media_type',
  'unsupported_audio_format',
  'invalid_audio',
  'unsupported_language',
  'unsupported_model',
  'unsupported_translation',
  'unsupported_diarization',
  'rate_limited',
  'internal_error',
  'overloaded',
  'shutting_down',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface VerbatimErrorOptions {
  /** The request field at fault, if one is. */
  param?: string;
  /** Whole seconds after which a retry makes sense (429, 503); at least 1. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** The abort reason of a request whose client went away: there is nobody left to answer. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
  constructor() {
    super('The client closed the connection.');
  }
}

/** A change of models was refused; the model that serves goes on. For operators, who may see the reason. */
export class ModelRefused extends Error {
  override readonly name = 'ModelRefused';
}

/**
 * The settings ask for what this machine does not have, or a file of its configuration is broken. The message says what
 * to do, and is shown as it is.
 */
export class SetupError extends Error {
  override readonly name: string = 'SetupError';
  /** In the form of a system's code, which keeps it apart from a bug on its way between processes. */
  readonly code = 'ESETUP';
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
}

/** The engine's process dies of the request each time, with nothing else in it: nobody is to try it again. */
export class EngineBreakingError extends VerbatimError {
  constructor() {
    super('internal_error', 'The engine broke down each time it worked on this request, at last on nothing else.');
  }
}
