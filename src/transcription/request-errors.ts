/**
 * Whatever a request fails with, as the error that its client gets: clients learn of their own faults, and nothing
 * of this machine.
 */
import type { NativeErrorCode } from '../engine/binding.js';
import { EngineError } from '../engine/native-errors.js';
import { VerbatimError, type ErrorCode } from '../errors.js';

const EXHAUSTED = /^(ENOSPC|EDQUOT|EMFILE|ENFILE|ENOTDIR|EEXIST|EROFS|EIO|SQLITE_FULL|SQLITE_BUSY(_\w+)?)$/;

const INTERNAL = 'Something went wrong on the server. If it happens again, report the request id to its operator.';

/** Faults of the request, and the field at fault. The engine's message says which fault and names no path. */
const FAULTS_OF_THE_REQUEST: Partial<Record<NativeErrorCode & ErrorCode, string>> = {
  unsupported_audio_format: 'audio',
  invalid_audio: 'audio',
  unsupported_language: 'language',
};

export function requestError(thrown: unknown): VerbatimError {
  if (thrown instanceof VerbatimError) return thrown;
  if (thrown instanceof EngineError) return ofEngineError(thrown);
  if (isExhausted(thrown)) {
    const message = 'The server has no room for the request now; try again later.';
    return new VerbatimError('overloaded', message, { cause: thrown });
  }
  return new VerbatimError('internal_error', INTERNAL, { cause: thrown });
}

/** A full disk, no more file descriptors, no directory to write to, a database that others keep locked: no bug. */
export function isExhausted(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return false;
  return typeof thrown.code === 'string' && EXHAUSTED.test(thrown.code);
}

function ofEngineError(error: EngineError): VerbatimError {
  const { code } = error;
  if (isFaultOfTheRequest(code)) {
    const param = FAULTS_OF_THE_REQUEST[code];
    return new VerbatimError(code, asSentence(error.message), {
      ...(param === undefined ? {} : { param }),
      cause: error,
    });
  }
  return new VerbatimError('internal_error', 'The request failed inside the engine.', { cause: error });
}

/** The engine's messages stand behind the name of a file on the command line. */
function asSentence(message: string): string {
  const end = /[.!?]$/.test(message) ? '' : '.';
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${end}`;
}

function isFaultOfTheRequest(code: NativeErrorCode): code is NativeErrorCode & ErrorCode {
  return code in FAULTS_OF_THE_REQUEST;
}
