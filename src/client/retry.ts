/** When to try again, and how long to wait before. */
import { VerbatimApiError } from './errors.js';
import { DoublingPause, type Sleep } from './pause.js';

export interface RetryOptions {
  /** Tries after the first one; default 4. */
  maxRetries?: number;
  /** First wait in milliseconds where the service named none; doubles each time; default 500. */
  backoffMs?: number;
  /** Longest single wait in milliseconds; a service that asks for more is not waited for. Default 300,000. */
  maxWaitMs?: number;
  /** How a wait passes, until the signal aborts; default: a timer. */
  sleep?: Sleep;
}

export interface Attempts {
  signal: AbortSignal | undefined;
  /** Whether it does no harm when a request whose answer was lost is sent again. */
  repeatable: boolean;
}

/** Runs `attempt` until it succeeds, fails for good, or the tries are used up. */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  options: RetryOptions,
  { signal, repeatable }: Attempts,
): Promise<T> {
  const { maxRetries = 4, backoffMs = 500, maxWaitMs = 300_000, sleep } = options;
  const pause = new DoublingPause(backoffMs, Infinity, sleep);
  let lostAnswer = false;
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      lostAnswer ||= isLostAnswer(error);
      const refused = error instanceof VerbatimApiError && isRefusalForNow(error, lostAnswer);
      const wait = waitMs(error, pause.next());
      if (tries >= maxRetries || wait > maxWaitMs) throw error;
      if (!refused && !(repeatable && isLostAnswer(error))) throw error;
      await pause.pass(wait, signal);
    }
  }
}

/**
 * 429 and 503. After a lost answer the first request may still run under the same idempotency key: its 409 then means
 * "not yet".
 */
function isRefusalForNow({ status, code }: VerbatimApiError, lostAnswer: boolean): boolean {
  return status === 429 || status === 503 || (lostAnswer && code === 'idempotency_conflict');
}

/** The connection broke: fetch then throws a TypeError that has a cause; its complaints about arguments have none. */
function isLostAnswer(error: unknown): boolean {
  return error instanceof TypeError && error.cause !== undefined;
}

/** The pause that the service asked for. Otherwise each is longer than the last, and differs between clients. */
function waitMs(error: unknown, backoffMs: number): number {
  const asked = error instanceof VerbatimApiError ? error.retryAfterSeconds : null;
  return asked === null ? backoffMs * (0.5 + Math.random() / 2) : asked * 1000;
}
