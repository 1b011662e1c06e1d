/** What the addon reports, as errors of the contract. */
import { VerbatimError } from '../errors.js';
import type { NativeErrorCode } from './binding.js';

/** Faults of the request; the addon's message says what was wrong and names no path. */
const FAULTS_OF_THE_REQUEST = {
  unsupported_audio_format: 'audio',
  invalid_audio: 'audio',
  unsupported_language: 'language',
} as const;

/** After these the slot that ran the window is as good as before. */
const HARMLESS: ReadonlySet<string> = new Set<NativeErrorCode>([
  'aborted',
  'invalid_argument',
  'invalid_audio',
  'unsupported_audio_format',
  'unsupported_language',
]);

export function nativeErrorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

/** Whether a slot that failed with this error is to be replaced before it runs another window. */
export function leavesSlotInDoubt(error: unknown): boolean {
  return !HARMLESS.has(nativeErrorCode(error) ?? '');
}

export function toVerbatimError(error: unknown): VerbatimError {
  if (error instanceof VerbatimError) return error;
  const code = nativeErrorCode(error);
  if (error instanceof Error && code !== null && isFaultOfTheRequest(code)) {
    return new VerbatimError(code, error.message, { param: FAULTS_OF_THE_REQUEST[code], cause: error });
  }
  return new VerbatimError('internal_error', 'The audio could not be transcribed.', { cause: error });
}

/** Throws what the caller of a request is to see of an error in it. */
export function failRequest(error: unknown, signal: AbortSignal | undefined): never {
  if (signal?.aborted === true) throw signal.reason;
  throw toVerbatimError(error);
}

function isFaultOfTheRequest(code: string): code is keyof typeof FAULTS_OF_THE_REQUEST {
  return code in FAULTS_OF_THE_REQUEST;
}
