/**
 * How long a piece of work may take while the database is busy or away, and what happens when it is unknown whether a
 * transaction was committed.
 */
import { PauseLength, Pauses } from '../../growing-pause.js';
import type { Timers } from '../../timers.js';
import type { Connections, Querying, SqlValue } from './connections.js';
import { NotReached, databaseFailureOf, unreachable } from './database-failure.js';

const PAUSE = { firstMs: 5, longestMs: 500 };
/** How long one try of a charge is waited for. */
const TRY_MS = 5_000;
const PROMPT_MS = 1_000;
/** Of an audit of the whole ledger. */
const SNAPSHOT_MS = 600_000;

export interface RetryLimits {
  /** In all; Infinity: until it is done or the ledger closes. */
  milliseconds: number;
  /** Of one try, which may be longer. */
  tryMs?: number;
  /** May be sent once more although it may have been done: the same call twice is as one. */
  repeatable: boolean;
}

/** Whether this is a repeat of a call that may have been done. */
export type Attempt<T> = (timeoutMs: number, repeated: boolean) => Promise<T>;

export class Statements {
  readonly #calls = new Set<Promise<unknown>>();
  readonly #pauses: Pauses;
  #ended = false;

  constructor(
    readonly connections: Connections,
    timers: Timers,
    /** What reads and holds may wait. */
    private readonly momentMs: number,
  ) {
    this.#pauses = new Pauses(timers);
  }

  /** For reads, and for writes that have the same effect when they are done twice. */
  repeatable<R>(sql: string, values: readonly SqlValue[] = []): Promise<R[]> {
    return this.#run((timeoutMs) => this.connections.query<R>(sql, values, timeoutMs), {
      milliseconds: this.momentMs,
      repeatable: true,
    });
  }

  /** For deferred work: tried once, since it is tried again later. */
  promptly<R>(sql: string, values: readonly SqlValue[]): Promise<R[]> {
    return this.#run((timeoutMs) => this.connections.query<R>(sql, values, timeoutMs), {
      milliseconds: 0,
      tryMs: PROMPT_MS,
      repeatable: true,
    });
  }

  /** For writes that are not to be done twice. */
  once<R>(sql: string, values: readonly SqlValue[] = []): Promise<R[]> {
    return this.#run((timeoutMs) => this.connections.query<R>(sql, values, timeoutMs), {
      milliseconds: this.momentMs,
      repeatable: false,
    });
  }

  /** Waits until it is done or the ledger closes. `values` get whether it may have been done already. */
  untilDone<R>(sql: string, values: (repeated: boolean) => readonly SqlValue[]): Promise<R[]> {
    return this.#run((timeoutMs, repeated) => this.connections.query<R>(sql, values(repeated), timeoutMs), {
      milliseconds: Infinity,
      repeatable: true,
    });
  }

  /** All of it or nothing. */
  transaction<T>(work: (query: Querying) => Promise<T>, limits: Partial<RetryLimits> = {}): Promise<T> {
    return this.#run((timeoutMs) => this.connections.with((query) => within('BEGIN', query, work), timeoutMs), {
      milliseconds: this.momentMs,
      repeatable: false,
      ...limits,
    });
  }

  /** On one snapshot, however long it takes to read it. */
  snapshot<T>(work: (query: Querying) => Promise<T>): Promise<T> {
    const reading = async (query: Querying): Promise<T> => {
      await query('SET LOCAL statement_timeout = 0');
      return work(query);
    };
    const mode = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
    return this.#run((timeoutMs) => this.connections.with((query) => within(mode, query, reading), timeoutMs), {
      milliseconds: this.momentMs,
      tryMs: SNAPSHOT_MS,
      repeatable: true,
    });
  }

  /** Calls that wait try one last time; resolves when all have. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#pauses.wake();
    await Promise.allSettled(this.#calls);
  }

  async #run<T>(attempt: Attempt<T>, limits: RetryLimits): Promise<T> {
    const call = this.#untilAnswered(attempt, limits);
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  async #untilAnswered<T>(attempt: Attempt<T>, { milliseconds, tryMs, repeatable }: RetryLimits): Promise<T> {
    const deadline = performance.now() + milliseconds;
    const longestMs = tryMs ?? (milliseconds === Infinity ? TRY_MS : milliseconds);
    let repeated = false;
    const length = new PauseLength(PAUSE);
    for (;;) {
      const pauseMs = length.next();
      const left = tryMs ?? deadline - performance.now();
      try {
        return await attempt(Math.max(1, Math.min(left, longestMs)), repeated);
      } catch (error) {
        const failure = databaseFailureOf(error);
        if (failure === null) throw error;
        repeated ||= failure === 'unknown';
        const over = performance.now() + pauseMs >= deadline || this.#ended;
        if (over || (repeated && !repeatable)) throw unreachable(error, repeated ? 'unknown' : 'nothing');
      }
      await this.#pauses.pause(pauseMs);
    }
  }
}

async function within<T>(mode: string, query: Querying, work: (query: Querying) => Promise<T>): Promise<T> {
  let result: T;
  try {
    await query(mode);
    result = await work(query);
  } catch (error) {
    // Nothing was committed, whatever was sent.
    if (databaseFailureOf(error) === 'unknown') throw new NotReached(error);
    await query('ROLLBACK').catch((lost: unknown) => {
      throw new NotReached(lost);
    });
    throw error;
  }
  await query('COMMIT');
  return result;
}
