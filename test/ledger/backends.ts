/** The databases that a ledger may be kept in: what is said of the ledger's interface holds on each. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../src/ledger/sqlite/driver.js';
import { createPostgresLedger, openPostgresLedger, PostgresLedger } from '../../src/ledger/postgres/ledger.js';
import { createLedger, openLedger } from '../../src/ledger/sqlite/ledger.js';
import type { SyncFile } from '../../src/ledger/sqlite/log-sync.js';
import type { WallClock } from '../../src/ledger/time.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { Timers } from '../../src/timers.js';
import { sharedCluster } from '../support/postgres-cluster.js';

export interface LedgerSettings {
  secret?: string | null;
  clock?: WallClock;
  timers?: Timers;
  lockTimeoutMs?: number;
  /** Of SQLite's log. */
  syncFile?: SyncFile;
  /** To PostgreSQL. */
  connections?: number;
  onError?: (error: unknown) => void;
}

/** Where the ledger of one test is. */
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

/** The address of another database beside the one of this place, without a schema. */
export async function emptyDatabase({ address: beside }: Place): Promise<string> {
  const address = `${beside}_empty`;
  await (await sharedCluster()).query(`CREATE DATABASE ${new URL(address).pathname.slice(1)}`);
  return address;
}

const ALL = [SQLITE, POSTGRESQL] as const;
/** Those that `describeLedger` declares its tests on: postgres-doubles.full.test.ts declares all of them once more. */
let declared: readonly Backend[] = [SQLITE];

/** What is declared within `declare` is declared on PostgreSQL. */
export function onPostgres(declare: () => void): void {
  declared = [POSTGRESQL];
  try {
    declare();
  } finally {
    declared = [SQLITE];
  }
}

/** The same tests of the ledger's interface, on each of the databases. */
export function describeLedger(title: string, body: (backend: Backend) => void, backends = declared): void {
  for (const backend of backends) {
    describe(backend === SQLITE ? title : `${title} (${backend.name})`, () => body(backend));
  }
}

/** On both databases at once, in a file that `npm run test:full` runs. */
export function describeOnBoth(title: string, body: (backend: Backend) => void): void {
  describeLedger(title, body, ALL);
}

/** Nothing of it holds on PostgreSQL. */
export function describeOnSqlite(title: string, body: () => void): void {
  if (declared.includes(SQLITE)) describe(title, body);
}

const isUrl = (address: string): boolean => address.startsWith('postgres://');

export async function serverAt(address: string, options: LedgerSettings): Promise<Ledger> {
  if (!isUrl(address)) return createLedger({ path: address, ...options });
  return createPostgresLedger({ url: address, ...forPostgres(options) });
}

export async function administrationAt(address: string, options: LedgerSettings): Promise<Ledger> {
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

function forPostgres({ lockTimeoutMs, secret = null, ...options }: LedgerSettings): LedgerSettings & {
  secret: string | null;
} {
  return { ...options, secret, ...(lockTimeoutMs === undefined ? {} : { timeoutMs: lockTimeoutMs }) };
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

const TEMPLATE = 'migrated_ledger';
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
    const database = `ledger_${process.pid}_${++databases}`;
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

/** The driver returns 64-bit integers as text. */
function plain(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
}
