/** The error table of the contract: for every code its one status, its guards and operations, and its meaning. */
import { ERROR_CODES, type ErrorCode } from '../../errors.js';
import { ADMIN_SCOPE, MANAGEMENT_SCOPE } from '../../ledger/scopes.js';
import { Allow, RetryAfter, WwwAuthenticate, type ResponseHeader } from '../schema/headers.js';

/**
 * Malformed HTTP, too many requests of one address and a bug are possible everywhere; the guards stand before
 * operations.
 */
export type Guard = 'http' | 'routing' | 'token' | 'key' | 'scope';

/** Operations that share one way from the upload to the transcript. */
const TRANSCRIBING = [
  ...(['transcribe', 'createJob', 'createTranscription', 'createTranslation', 'transcribeFile'] as const),
] as const;

type Operation =
  | 'createKey'
  | 'revokeKey'
  | 'getJob'
  | 'deleteJob'
  | 'createAccount'
  | 'createToken'
  | (typeof TRANSCRIBING | typeof BY_MODEL | typeof OF_ACCOUNT | typeof OPENING | typeof OF_TRANSCRIPT)[number];

/** Operations of operators that take an account's id. */
const OF_ACCOUNT = [
  ...(['getAccount', 'deleteAccount', 'suspendAccount', 'resumeAccount'] as const),
  ...(['exportAccount', 'grantCredits'] as const),
] as const;

/** Those that take a kept transcript's id. */
const OF_TRANSCRIPT = [
  ...(['getTranscript', 'updateTranscript', 'deleteTranscript', 'createShare', 'listShares', 'revokeShare'] as const),
  ...(['getTranscriptAudio', 'exportTranscript'] as const),
] as const;

/** Those that make ephemeral keys with a session in them. */
const OPENING = ['createClientSecret', 'createTranslationSecret', 'createTranscriptionSession'] as const;

/** Those that take a model's name. */
const BY_MODEL = ['createTranscription', 'createTranslation', 'retrieveModel', ...OPENING] as const;

interface ErrorRow {
  status: number;
  /** Guards, and operations of the document by their ids. */
  raisedBy: readonly (Guard | Operation)[];
  meaning: string;
  /** For example. */
  message: string;
  param?: string;
}

export const ERROR_TABLE: Readonly<Record<ErrorCode, ErrorRow>> = {
  invalid_request: {
    status: 400,
    raisedBy: ['http'],
    meaning: 'Malformed, or a field that is missing, duplicate, unknown or out of range; `param` names it.',
    message: 'The Host header is missing.',
  },
  missing_api_key: {
    status: 401,
    raisedBy: ['token'],
    meaning: 'No Authorization header, or a scheme other than Bearer.',
    message: 'Send the API key as "Authorization: Bearer <key>".',
  },
  invalid_api_key: {
    status: 401,
    raisedBy: ['token'],
    meaning: 'Unknown key, revoked key, or a key revoked, or its account suspended, while the request was in flight.',
    message: 'The API key is unknown or revoked.',
  },
  insufficient_credits: {
    status: 402,
    raisedBy: TRANSCRIBING,
    meaning: 'The balance cannot cover the audio. Nothing was transcribed or charged.',
    message: 'This request costs 3 credits; the account has 1.',
  },
  insufficient_scope: {
    status: 403,
    raisedBy: ['scope'],
    meaning: `The key lacks the scope \`${MANAGEMENT_SCOPE}\`, or for \`/api/v1/admin\` the scope \`${ADMIN_SCOPE}\`.`,
    message: `This endpoint needs a key with the scope ${MANAGEMENT_SCOPE}.`,
  },
  account_suspended: {
    status: 403,
    raisedBy: ['key'],
    meaning: "The key's account is suspended by the operator of the service.",
    message: 'The account is suspended since 2026-11-20T17:24:00.000Z.',
  },
  not_found: {
    status: 404,
    raisedBy: ['routing'],
    meaning: 'There is nothing at this path.',
    message: 'There is nothing at this path; /openapi.json lists all paths of the API.',
  },
  key_not_found: {
    status: 404,
    raisedBy: ['revokeKey'],
    meaning: 'The account has no such key.',
    message: 'The account has no key with this id.',
  },
  account_not_found: {
    status: 404,
    raisedBy: ['createKey', ...OF_ACCOUNT],
    meaning: 'There is no such account, or no longer.',
    message: 'There is no account acc_Zk3v9Q0c7TfYb1Rn.',
  },
  job_not_found: {
    status: 404,
    raisedBy: ['getJob', 'deleteJob'],
    meaning: 'The account has no such job, or no longer.',
    message: 'The account has no job with this id.',
  },
  transcript_not_found: {
    status: 404,
    raisedBy: OF_TRANSCRIPT,
    meaning: 'The account keeps no such transcript, or no longer; or it has no recording, or no translation.',
    message: 'The account keeps no transcript with this id.',
  },
  share_not_found: {
    status: 404,
    raisedBy: ['revokeShare'],
    meaning: 'The transcript has no such link, or no longer.',
    message: 'The transcript has no link with this id.',
  },
  model_not_found: {
    status: 404,
    raisedBy: BY_MODEL,
    meaning: 'No speech model of this name is installed.',
    message: 'There is no speech model "large-v3"; installed: base, verbatim-small.',
    param: 'model',
  },
  method_not_allowed: {
    status: 405,
    raisedBy: ['routing'],
    meaning: 'The path does not support this method; `Allow` lists those that it supports.',
    message: '/api/v1/me does not support POST; it supports GET, HEAD, OPTIONS.',
  },
  idempotency_conflict: {
    status: 409,
    raisedBy: [...TRANSCRIBING, 'grantCredits'],
    meaning:
      'The Idempotency-Key was used for a different request, or the first is still running; or the payment ' +
      'was used for another grant.',
    message: 'This Idempotency-Key was used for a different request.',
    param: 'Idempotency-Key',
  },
  conflict: {
    status: 409,
    raisedBy: [...TRANSCRIBING, 'updateTranscript'],
    meaning:
      'The transcript has been changed since: it has another `version` by now. Or the request was cancelled on the ' +
      'dashboard.',
    message: 'The transcript was changed meanwhile. Read it again, and make the change to the version that it has now.',
    param: 'version',
  },
  library_full: {
    status: 409,
    raisedBy: ['updateTranscript'],
    meaning: "The account's kept transcripts take all the room that it has.",
    message: 'The account has no room left for kept transcripts. Delete some that you no longer need.',
  },
  file_too_large: {
    status: 413,
    raisedBy: TRANSCRIBING,
    meaning: 'The file is over 100,000,000 bytes.',
    message: 'The file may have at most 100,000,000 bytes. Compress it, or send it in parts.',
    param: 'audio',
  },
  audio_too_long: {
    status: 413,
    raisedBy: TRANSCRIBING,
    meaning: 'The audio is longer than the service accepts.',
    message: 'The audio is longer than the limit of 14400 s.',
    param: 'audio',
  },
  unsupported_media_type: {
    status: 415,
    raisedBy: [
      ...(['createKey', 'createAccount', 'grantCredits', 'createToken', 'updateTranscript', 'createShare'] as const),
      ...OPENING,
      ...TRANSCRIBING,
    ],
    meaning: 'The endpoint does not accept this Content-Type, or the body has a Content-Encoding.',
    message: 'Send the body as multipart/form-data.',
  },
  unsupported_audio_format: {
    status: 415,
    raisedBy: TRANSCRIBING,
    meaning: 'The file is not audio of a supported format, or its format needs ffmpeg, which is not installed.',
    message:
      'The file is MP4, MOV or 3GP, which takes ffmpeg to read, and there is no ffmpeg on this machine: install ' +
      'ffmpeg, or send WAV, FLAC, MP3 or OGG.',
    param: 'audio',
  },
  invalid_audio: {
    status: 422,
    raisedBy: TRANSCRIBING,
    meaning: 'The right container, but broken, empty, or without samples.',
    message: 'The audio has no samples.',
    param: 'audio',
  },
  unsupported_language: {
    status: 422,
    raisedBy: [...TRANSCRIBING, ...OPENING],
    meaning: 'An unknown language, or one the installed model does not speak.',
    message: '"tlh" is not an ISO 639 language code that the service knows.',
    param: 'language',
  },
  unsupported_model: {
    status: 422,
    raisedBy: TRANSCRIBING,
    meaning: 'No speech model of this name is installed.',
    message: 'There is no speech model "tiny.en"; installed: base, verbatim-small.',
    param: 'model',
  },
  unsupported_translation: {
    status: 422,
    raisedBy: [...TRANSCRIBING, 'createTranslationSecret'],
    meaning: 'No installed model covers the pair of languages.',
    message: 'No installed model translates "es" to "ja".',
    param: 'translate_to',
  },
  unsupported_diarization: {
    status: 422,
    raisedBy: TRANSCRIBING,
    meaning: 'Speakers cannot be identified: no models for it are installed, or none for the language; or it is off.',
    message: 'VERBATIM_SPEAKERS is off.',
    param: 'diarize',
  },
  rate_limited: {
    status: 429,
    raisedBy: ['http'],
    meaning:
      "The account's own limit on requests in flight, on jobs that have not ended or on the bytes of audio that " +
      'these keep; or the limit on connections of one address.',
    message: 'The account has 64 requests in flight; its limit is 64.',
  },
  internal_error: {
    status: 500,
    raisedBy: ['http'],
    meaning: 'A bug of the service.',
    message: 'Something went wrong on the server. If it happens again, report the request id to its operator.',
  },
  overloaded: {
    status: 503,
    raisedBy: ['key'],
    meaning: 'The backlog is full, a resource of the machine is exhausted, or the request took too long.',
    message: 'The backlog is full. Try again after the seconds in Retry-After.',
  },
  shutting_down: {
    status: 503,
    raisedBy: ['key'],
    meaning: 'The server is draining.',
    message: 'The server is shutting down; try again shortly.',
  },
};

/** Beside the id of the request. */
export const ERROR_HEADERS: Readonly<Record<number, ResponseHeader>> = {
  401: WwwAuthenticate,
  405: Allow,
  429: RetryAfter,
  503: RetryAfter,
};

/** The codes that an operation behind these guards can be answered with. */
export function errorsOf(operation: string, guards: readonly Guard[]): ErrorCode[] {
  const raisers: readonly string[] = [...guards, operation];
  return ERROR_CODES.filter((code) => ERROR_TABLE[code].raisedBy.some((raiser) => raisers.includes(raiser)));
}
