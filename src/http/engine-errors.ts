/** The engine's errors in the words of the HTTP contract: clients are told of their own faults, and nothing of this machine. */
import type { NativeErrorCode } from '../engine/binding.js';
import type { EngineError } from '../engine/native-errors.js';
import { VerbatimError, type ErrorCode } from '../errors.js';

/** Faults of the request, and the field at fault; the engine's message says what was wrong and names no path. */
const FAULTS_OF_THE_REQUEST: Partial<Record<NativeErrorCode & ErrorCode, string>> = {
  unsupported_audio_format: 'audio',
  invalid_audio: 'audio',
  unsupported_language: 'language',
};

export function ofEngineError(error: EngineError): VerbatimError {
  const { code } = error;
  if (isFaultOfTheRequest(code)) {
    const param = FAULTS_OF_THE_REQUEST[code];
    return new VerbatimError(code, error.message, {
      ...(param === undefined ? {} : { param }),
      cause: error,
    });
  }
  return new VerbatimError('internal_error', 'The request failed inside the engine.', { cause: error });
}

function isFaultOfTheRequest(code: NativeErrorCode): code is NativeErrorCode & ErrorCode {
  return code in FAULTS_OF_THE_REQUEST;
}
