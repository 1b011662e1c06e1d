/** The pool of connections, and one statement on one of them. */
import { Pool, types, type CustomTypesConfig, type PoolClient, type PoolConfig } from 'pg';
import { NotReached, databaseFailureOf } from './database-failure.js';

/** Where everything of ours is, so that the database may have other uses. */
export const SCHEMA = 'verbatim';

const CONNECT_TIMEOUT_MS = 2_000;
const IDLE_MS = 30_000;
/** The server's own limits, so that nothing is left running behind a connection that is gone. */
const LOCK_TIMEOUT_MS = 1_500;
const STATEMENT_TIMEOUT_MS = 10_000;
const CLOSE_MS = 1_000;

const INT8 = types.builtins.INT8;

export type SqlValue = string | number | boolean | null | Buffer | readonly string[] | readonly number[];

/** Of one connection. */
export interface Querying {
  <R>(sql: string, values?: readonly SqlValue[]): Promise<R[]>;
}

/** What every connection is made with. */
export function connectionConfig(url: string): PoolConfig {
  return {
    connectionString: url,
    application_name: 'verbatim',
    options: `-c search_path=${SCHEMA}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    types: TYPES,
  };
}

export class Connections {
  readonly #pool: Pool;

  constructor(url: string, most: number) {
    this.#pool = new Pool({ ...connectionConfig(url), max: most, idleTimeoutMillis: IDLE_MS });
    // An idle connection that breaks is replaced; one that is in use fails its query.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /** One statement is one transaction. */
  query<R>(sql: string, values: readonly SqlValue[], timeoutMs: number): Promise<R[]> {
    return this.with((query) => query<R>(sql, values), timeoutMs);
  }

  /**
   * Throws NotReached while nothing has been sent. A connection that broke, or that was not answered for so long, is
   * not used again.
   */
  async with<T>(work: (query: Querying) => Promise<T>, timeoutMs: number): Promise<T> {
    const client = await this.#connect();
    let broken = true;
    try {
      const done = await work((sql, values = []) => ask(client, sql, values, timeoutMs));
      broken = false;
      return done;
    } catch (error) {
      broken = error instanceof NotReached || databaseFailureOf(error) === 'unknown';
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Does not wait long for servers that do not answer. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, CLOSE_MS)));
    await Promise.race([this.#pool.end(), timeout]);
    clearTimeout(timer);
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw new NotReached(error);
    }
  }
}

async function ask<R>(client: PoolClient, text: string, values: readonly SqlValue[], timeoutMs: number): Promise<R[]> {
  const config = { text, values: values.map(storable), query_timeout: Math.ceil(timeoutMs) };
  const { rows } = await client.query(config);
  return rows as R[];
}

/** PostgreSQL stores no NUL in a text; what is looked for with one is not there. */
function storable(value: SqlValue): SqlValue {
  return typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value;
}

const TYPES: CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === INT8 && format !== 'binary' ? safeInteger : (types.getTypeParser(oid, format) as (text: string) => unknown),
};

function safeInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new RangeError(`${text} is beyond the integers that are exact.`);
}
