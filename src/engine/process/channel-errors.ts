/** Errors as they are sent over a channel. */
import { ERROR_CODES, VerbatimError, type ErrorCode } from '../../errors.js';
import { EngineError, nativeErrorCode, toEngineError } from '../native-errors.js';

export interface ChannelError {
  /**
   * A NativeErrorCode, a system error code (ENOSPC), or, with `contract`, an ErrorCode. Any other code is read as
   * `internal_error`.
   */
  code: string;
  message: string;
  /** Set for a VerbatimError. */
  contract?: { param: string | null; retryAfterSeconds: number | null };
}

const SYSTEM_CODE = /^E[A-Z0-9]+$/;

export function toChannelError(error: unknown): ChannelError {
  if (error instanceof VerbatimError) {
    const { code, message, param, retryAfterSeconds } = error;
    return { code, message, contract: { param, retryAfterSeconds } };
  }
  const known = toEngineError(error);
  if (known instanceof EngineError) return { code: known.code, message: known.message };
  const message = error instanceof Error ? error.message : String(error);
  return { code: systemCodeOf(error) ?? 'internal_error', message };
}

/** Never throws, because the process that sent the error may be broken. */
export function fromChannelError({ code, message, contract }: ChannelError): Error {
  const isOfContract = (ERROR_CODES as readonly string[]).includes(code);
  if (contract !== undefined && isOfContract) {
    const { param, retryAfterSeconds } = contract;
    return new VerbatimError(code as ErrorCode, message, {
      ...(typeof param === 'string' ? { param } : {}),
      ...(typeof retryAfterSeconds === 'number' ? { retryAfterSeconds } : {}),
    });
  }
  const error = Object.assign(new Error(message), { code });
  if (SYSTEM_CODE.test(code)) return error;
  return new EngineError(nativeErrorCode(error) ?? 'internal_error', message);
}

export function isChannelError(value: unknown): value is ChannelError {
  if (typeof value !== 'object' || value === null) return false;
  const { code, message, contract } = value as { code?: unknown; message?: unknown; contract?: unknown };
  const isPlain = typeof code === 'string' && typeof message === 'string';
  return isPlain && (contract === undefined || (typeof contract === 'object' && contract !== null));
}

function systemCodeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  return SYSTEM_CODE.test(error.code) ? error.code : null;
}
