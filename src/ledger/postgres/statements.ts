/** How long a piece of work may take while the database is busy or away, and what is done when nobody knows whether it was done. */
import type { Timer, Timers } from '../../timers.js';
import type { Connections, Querying, SqlValue } from './connections.js';
import { NotReached, troubleOf, unreachable } from './trouble.js';

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 500;
/** How long one try of a charge is waited for. */
const TRY_MS = 5_000;
const PROMPT_MS = 1_000;
/** Of a check of all books. */
const SNAPSHOT_MS = 600_000;

export interface Patience {
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
  readonly #wakeUps = new Set<() => void>();
  #ended = false;

  constructor(
    readonly connections: Connections,
    private readonly timers: Timers,
    /** What reads and holds may wait. */
    private readonly momentMs: number,
  ) {}

  /** For reads, and for writes that have the same effect when they are done twice. */
  repeatable<R>(sql: string, values: readonly SqlValue[] = []): Promise<R[]> {
    return this.#run((timeoutMs) => this.connections.query<R>(sql, values, timeoutMs), {
      milliseconds: this.momentMs,
      repeatable: true,
    });
  }

  /** For what is owed: tried once, since it is tried again later. */
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

  /** Waits until it is done or the ledger closes. `values` are told whether it may have been done already. */
  untilDone<R>(sql: string, values: (repeated: boolean) => readonly SqlValue[]): Promise<R[]> {
    return this.#run((timeoutMs, repeated) => this.connections.query<R>(sql, values(repeated), timeoutMs), {
      milliseconds: Infinity,
      repeatable: true,
    });
  }

  /** All of it or nothing. */
  transaction<T>(work: (query: Querying) => Promise<T>, patience: Partial<Patience> = {}): Promise<T> {
    return this.#run(
      (timeoutMs) => this.connections.with((query) => within('BEGIN', query, work), timeoutMs),
      {
        milliseconds: this.momentMs,
        repeatable: false,
        ...patience,
      },
    );
  }

  /** On one snapshot, however long it takes to read it. */
  snapshot<T>(work: (query: Querying) => Promise<T>): Promise<T> {
    const reading = async (query: Querying): Promise<T> => {
      await query('SET LOCAL statement_timeout = 0');
      return work(query);
    };
    const mode = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
    return this.#run(
      (timeoutMs) => this.connections.with((query) => within(mode, query, reading), timeoutMs),
      {
        milliseconds: this.momentMs,
        tryMs: SNAPSHOT_MS,
        repeatable: true,
      },
    );
  }

  /** Whoever waits tries one last time; resolves when all have. */
  async end(): Promise<void> {
    this.#ended = true;
    for (const wake of this.#wakeUps) wake();
    await Promise.allSettled(this.#calls);
  }

  async #run<T>(attempt: Attempt<T>, patience: Patience): Promise<T> {
    const call = this.#untilAnswered(attempt, patience);
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  async #untilAnswered<T>(attempt: Attempt<T>, { milliseconds, tryMs, repeatable }: Patience): Promise<T> {
    const deadline = performance.now() + milliseconds;
    const longestMs = tryMs ?? (milliseconds === Infinity ? TRY_MS : milliseconds);
    let repeated = false;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const left = tryMs ?? deadline - performance.now();
      try {
        return await attempt(Math.max(1, Math.min(left, longestMs)), repeated);
      } catch (error) {
        const trouble = troubleOf(error);
        if (trouble === null) throw error;
        repeated ||= trouble === 'unknown';
        const over = performance.now() + pauseMs >= deadline || this.#ended;
        if (over || (repeated && !repeatable)) throw unreachable(error, repeated ? 'unknown' : 'nothing');
      }
      await this.#pause(pauseMs);
    }
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      let timer: Timer | null = null;
      const wake = (): void => {
        timer?.cancel();
        this.#wakeUps.delete(wake);
        resolve();
      };
      timer = this.timers.after(milliseconds, wake);
      this.#wakeUps.add(wake);
    });
  }
}

async function within<T>(mode: string, query: Querying, work: (query: Querying) => Promise<T>): Promise<T> {
  let result: T;
  try {
    await query(mode);
    result = await work(query);
  } catch (error) {
    // Nothing was committed, whatever was sent.
    if (troubleOf(error) === 'unknown') throw new NotReached(error);
    await query('ROLLBACK').catch((lost: unknown) => {
      throw new NotReached(lost);
    });
    throw error;
  }
  await query('COMMIT');
  return result;
}
