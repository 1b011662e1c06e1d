import { VerbatimError } from '../errors.js';

/** Of an account that has as many requests at a time as it may. */
export function tooManyInFlight(inFlight: number, most: number, retryAfterSeconds?: number): VerbatimError {
  const message = `The account has ${inFlight} requests in flight; its limit is ${most}.`;
  return new VerbatimError('rate_limited', message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}
