/** The databases that a ledger may keep its books in: what is said of the ledger's interface holds on each. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import {
  createPostgresLedger,
  openPostgresLedger,
  PostgresLedger,
} from '../../src/ledger/postgres/ledger.js';
import { createLedger, openLedger } from '../../src/ledger/sqlite/ledger.js';
import type { SyncFile } from '../../src/ledger/sqlite/log-sync.js';
import type { WallClock } from '../../src/ledger/time.js';
import type { Ledger } from '../../src/ledger/types.js';
import type { Timers } from '../../src/timers.js';
import { sharedCluster } from '../support/postgres-cluster.js';

export interface BooksOptions {
  secret?: string | null;
  clock?: WallClock;
  timers?: Timers;
  lockPatienceMs?: number;
  /** Of SQLite's log. */
  syncFile?: SyncFile;
  /** To PostgreSQL. */
  connections?: number;
  onError?: (error: unknown) => void;
}

/** Where the books of one test are. */
export interface Place {
  /** A path, or a URL. */
  readonly address: string;
  rows<R>(sql: string): Promise<R[]>;
  remove(): Promise<void>;
}

export interface Backend {
  readonly name: 'SQLite' | 'PostgreSQL';
  place(parent?: string): Promise<Place>;
}

export const SQLITE: Backend = {
  name: 'SQLite',
  place: (parent) => Promise.resolve(new SqlitePlace(parent)),
};
export const POSTGRESQL: Backend = { name: 'PostgreSQL', place: () => PostgresPlace.make() };

/** Says the same of a ledger on each database. */
export function describeLedger(title: string, body: (backend: Backend) => void): void {
  for (const backend of [SQLITE, POSTGRESQL]) {
    describe(backend === SQLITE ? title : `${title} (${backend.name})`, () => body(backend));
  }
}

const isUrl = (address: string): boolean => address.startsWith('postgres://');

export async function serverAt(address: string, options: BooksOptions): Promise<Ledger> {
  if (!isUrl(address)) return createLedger({ path: address, ...options });
  return createPostgresLedger({ url: address, ...forPostgres(options) });
}

export async function administrationAt(address: string, options: BooksOptions): Promise<Ledger> {
  if (!isUrl(address)) return openLedger({ path: address, ...options });
  return openPostgresLedger({ url: address, ...forPostgres(options) });
}

/** What a ledger does in the background just now is done then. */
export async function idle(ledger: Ledger): Promise<void> {
  if (ledger instanceof PostgresLedger) await ledger.idle();
}

/** As the death of its process would. */
export async function die(ledger: Ledger): Promise<void> {
  if (ledger instanceof PostgresLedger) await ledger.abandon();
}

function forPostgres({ lockPatienceMs, secret = null, ...options }: BooksOptions): BooksOptions & {
  secret: string | null;
} {
  return { ...options, secret, ...(lockPatienceMs === undefined ? {} : { patienceMs: lockPatienceMs }) };
}

export class SqlitePlace implements Place {
  readonly directory: string;
  readonly address: string;

  constructor(parent = tmpdir()) {
    this.directory = mkdtempSync(join(parent, 'verbatim-ledger-'));
    this.address = join(this.directory, 'verbatim.db');
  }

  rows<R>(sql: string): Promise<R[]> {
    const database = new Database(this.address);
    try {
      return Promise.resolve(database.prepare<[], R>(sql).all());
    } finally {
      database.close();
    }
  }

  remove(): Promise<void> {
    rmSync(this.directory, { recursive: true, force: true });
    return Promise.resolve();
  }
}

const TEMPLATE = 'migrated_books';
let template: Promise<void> | undefined;
let databases = 0;

class PostgresPlace implements Place {
  private constructor(
    private readonly database: string,
    readonly address: string,
  ) {}

  static async make(): Promise<PostgresPlace> {
    const cluster = await sharedCluster();
    await (template ??= makeTemplate());
    const database = `books_${process.pid}_${++databases}`;
    await cluster.query(`CREATE DATABASE ${database} TEMPLATE ${TEMPLATE}`);
    return new PostgresPlace(database, cluster.url(database));
  }

  async rows<R>(sql: string): Promise<R[]> {
    const rows = await (await sharedCluster()).query<Record<string, unknown>>(sql, this.database);
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])),
    ) as R[];
  }

  async remove(): Promise<void> {
    await (await sharedCluster()).query(`DROP DATABASE ${this.database} WITH (FORCE)`);
  }
}

async function makeTemplate(): Promise<void> {
  const cluster = await sharedCluster();
  await cluster.query(`CREATE DATABASE ${TEMPLATE}`);
  await (await openPostgresLedger({ url: cluster.url(TEMPLATE), secret: null })).close();
}

/** The driver tells 64 bits as text. */
function plain(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
}
