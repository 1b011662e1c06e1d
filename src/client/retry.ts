/** When to try again, and how long to wait before. */
import { setTimeout as sleep } from 'node:timers/promises';
import { VerbatimApiError } from './errors.js';

export interface RetryOptions {
  /** Tries after the first one; default 4. */
  maxRetries?: number;
  /** First wait in milliseconds where the service named none; doubles each time; default 500. */
  backoffMs?: number;
  /** No single wait is longer, in milliseconds; default 60,000. */
  maxWaitMs?: number;
}

/** Runs `attempt` until it succeeds, fails for good, or the tries are used up. */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  options: RetryOptions,
  signal: AbortSignal | undefined,
): Promise<T> {
  const { maxRetries = 4, backoffMs = 500, maxWaitMs = 60_000 } = options;
  let lostAnswer = false;
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (signal?.aborted === true || tries >= maxRetries || !isTransient(error, lostAnswer)) throw error;
      lostAnswer ||= !(error instanceof VerbatimApiError);
      const asked = error instanceof VerbatimApiError ? error.retryAfterSeconds : null;
      const wait = asked === null ? backoffMs * 2 ** tries * (0.5 + Math.random() / 2) : asked * 1000;
      await sleep(Math.min(wait, maxWaitMs), undefined, signal === undefined ? {} : { signal });
    }
  }
}

/**
 * 429, 503 and a connection that broke. After a lost answer the first request may still run under the same
 * idempotency key: its 409 then means "not yet".
 */
function isTransient(error: unknown, lostAnswer: boolean): boolean {
  if (!(error instanceof VerbatimApiError)) return error instanceof TypeError;
  if (error.status === 429 || error.status === 503) return true;
  return lostAnswer && error.code === 'idempotency_conflict';
}
