/** The addon's errors, as errors of the engine. Callers translate them: HTTP and the command line differ. */
import { VerbatimError } from '../errors.js';
import type { NativeErrorCode } from './binding.js';

const CODES: ReadonlySet<string> = new Set<NativeErrorCode>([
  'unsupported_audio_format',
  'invalid_audio',
  'unsupported_language',
  'invalid_model',
  'device_unavailable',
  'device_lost',
  'out_of_memory',
  'invalid_argument',
  'aborted',
  'io_error',
  'internal_error',
]);

/** After these the slot that ran the window is as good as before. */
const HARMLESS: ReadonlySet<string> = new Set<NativeErrorCode>([
  'aborted',
  'invalid_argument',
  'invalid_audio',
  'unsupported_audio_format',
  'unsupported_language',
]);

/** The addon's error: its code, and its message as it is, which may name a path of this machine. */
export class EngineError extends Error {
  override readonly name = 'EngineError';

  constructor(
    readonly code: NativeErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function nativeErrorCode(error: unknown): NativeErrorCode | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  const { code } = error;
  return typeof code === 'string' && CODES.has(code) ? (code as NativeErrorCode) : null;
}

/** Whether a slot that failed with this error is to be replaced before it runs another window. */
export function leavesSlotInDoubt(error: unknown): boolean {
  return !HARMLESS.has(nativeErrorCode(error) ?? '');
}

/** The error as the engine rejects with it; one that is no native error is a bug, and passed on as it is. */
export function toEngineError(error: unknown): unknown {
  if (error instanceof VerbatimError || error instanceof EngineError) return error;
  const code = nativeErrorCode(error);
  return code === null ? error : new EngineError(code, (error as Error).message, { cause: error });
}

/** Says of a model's error which model it is about. */
export function ofModel(name: string, error: unknown): unknown {
  const known = toEngineError(error);
  if (!(known instanceof EngineError)) return known;
  return new EngineError(known.code, `${name}: ${known.message}`, { cause: error });
}

/** Throws the error that the caller of a request sees. */
export function failRequest(error: unknown, signal: AbortSignal | undefined): never {
  if (signal?.aborted === true) throw signal.reason;
  throw toEngineError(error);
}
