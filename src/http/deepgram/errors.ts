/** Errors as Deepgram's clients read them. */
import type { VerbatimError } from '../../errors.js';
import type { ErrorForm } from '../app/error-handler.js';
import { ERROR_TABLE } from '../errors/error-table.js';

export const LISTEN_PATH = '/v1/listen';

export interface ListenError {
  err_code: string;
  err_msg: string;
  request_id: string;
}

/** What cannot be served or decoded is 400 there. */
export function listenError(error: VerbatimError, requestId: string): { status: number; body: ListenError } {
  const { status } = ERROR_TABLE[error.code];
  const body = { err_code: error.code.toUpperCase(), err_msg: error.message, request_id: requestId };
  return { status: status === 422 || error.code === 'unsupported_audio_format' ? 400 : status, body };
}

/** Of endpoints that are no WebSockets. */
export const deepgramError: ErrorForm = (error, { id }) => ({ ...listenError(error, id), headers: {} });
