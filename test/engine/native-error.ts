/** Errors as the addon throws them. */
import type { NativeErrorCode } from '../../src/engine/binding.js';

export function nativeError(code: NativeErrorCode, message: string = code): Error {
  return Object.assign(new Error(message), { code });
}

/** As the addon refuses a call on a handle that is closed or has a call running. */
export function refuseCall({ closed, busy }: { closed: boolean; busy?: boolean }): void {
  if (closed) throw nativeError('invalid_argument', 'This handle has been closed or released.');
  if (busy === true) throw nativeError('invalid_argument', 'Calls must not overlap.');
}
