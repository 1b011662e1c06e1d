/** Moves a ledger from SQLite to PostgreSQL: all of them in one transaction, or nothing. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type Database from 'better-sqlite3';
import { systemTimers } from '../../timers.js';
import type { DatabaseAction } from '../operators.js';
import { auditPostgres } from '../postgres/audit.js';
import { Connections, type Querying } from '../postgres/connections.js';
import { migratePostgres } from '../postgres/migrate.js';
import { Statements } from '../postgres/statements.js';
import { keptSubject } from '../rows/operators.js';
import { refuseUnbalanced } from '../sqlite/backup.js';
import { openDatabase } from '../sqlite/database.js';
import { livingServers } from '../sqlite/instances.js';
import { COPIED_TABLES, type CopiedTable } from './tables.js';

const ROWS_AT_ONCE = 1_000;
/** Characters of them: a transcript may have millions. */
const CHARACTERS_AT_ONCE = 16_000_000;
const TIMEOUT_MS = 5_000;
/** For all of it. */
const LONGEST_MS = 24 * 3_600_000;

export interface Copied {
  /** Rows, by table. */
  rows: Record<string, number>;
}

/**
 * Throws an Error, and copies nothing, if a server runs on the old ledger, either ledger does not balance, the new one
 * is not empty, or a count differs. `noted`: for the operators' log of the new ledger.
 */
export async function copyToPostgres(from: string, to: string, noted?: DatabaseAction): Promise<Copied> {
  const source = openStopped(from);
  const connections = new Connections(to, 1);
  try {
    const statements = new Statements(connections, systemTimers, TIMEOUT_MS);
    const copy = async (query: Querying): Promise<Copied> => {
      const copied = await copyAll(source, query);
      if (noted !== undefined) await noteDone(query, noted);
      return copied;
    };
    return await statements.transaction(copy, { tryMs: LONGEST_MS });
  } finally {
    await connections.close();
    source.close();
  }
}

function openStopped(path: string): Database.Database {
  const file = resolve(path);
  if (!existsSync(file)) throw new Error(`There is no database at ${file}.`);
  const [server] = livingServers(file);
  if (server !== undefined) throw new Error(`A server runs on ${file}; stop it first, or what it charges is lost.`);
  const source = openDatabase(file);
  try {
    refuseUnbalanced(source, file);
    // Nobody begins to write while they are read.
    source.exec('BEGIN IMMEDIATE');
    return source;
  } catch (error) {
    source.close();
    throw error;
  }
}

async function noteDone(query: Querying, { action, detail = null }: DatabaseAction): Promise<void> {
  await query(`INSERT INTO operator_actions (action, detail, outcome, created_at) VALUES ($1, $2, 'done', $3)`, [
    ...[action, keptSubject(detail), Date.now()],
  ]);
}

async function copyAll(source: Database.Database, query: Querying): Promise<Copied> {
  await query('SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0');
  await query('SET LOCAL idle_in_transaction_session_timeout = 0');
  await migratePostgres(query);
  await query('LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE');
  if ((await query('SELECT 1 FROM accounts LIMIT 1')).length > 0) {
    throw new Error('The ledger to copy to is not empty: it has accounts. Nothing was copied.');
  }
  await query('DELETE FROM settings');
  const rows: Record<string, number> = {};
  for (const table of COPIED_TABLES) rows[table.name] = await copyTable(source, query, table);
  const [violation] = await auditPostgres(query);
  if (violation === undefined) return { rows };
  throw new Error(
    `The copied ledger does not balance: ${violation.invariant}: ${violation.detail}. Nothing was copied.`,
  );
}

async function copyTable(source: Database.Database, query: Querying, table: CopiedTable): Promise<number> {
  const { name, select = `SELECT * FROM ${name}`, counted } = table;
  const columns = source
    .prepare(select)
    .columns()
    .map((column) => column.name);
  let copied = 0;
  for (const rows of batches(source, select)) {
    // As JSON, so that one statement takes any table's rows; the columns' types are the database's.
    await query(
      `INSERT INTO ${name} (${columns.join(', ')})
       SELECT ${columns.join(', ')} FROM json_populate_recordset(NULL::${name}, $1::json)`,
      [JSON.stringify(rows)],
    );
    copied += rows.length;
  }
  const [there] = await query<{ rows: number }>(`SELECT count(*) AS rows FROM ${name}`);
  if (there?.rows !== copied) {
    throw new Error(`${name} has ${copied} rows, but ${there?.rows ?? 0} arrived. Nothing was copied.`);
  }
  if (counted !== undefined) await goOnCounting(source, query, name, counted);
  return copied;
}

function* batches(source: Database.Database, select: string): Generator<Record<string, unknown>[]> {
  let rows: Record<string, unknown>[] = [];
  let characters = 0;
  for (const row of source.prepare<[], Record<string, unknown>>(select).iterate()) {
    rows.push(asJson(row));
    for (const value of Object.values(row)) characters += typeof value === 'string' ? value.length : 0;
    if (rows.length < ROWS_AT_ONCE && characters < CHARACTERS_AT_ONCE) continue;
    yield rows;
    rows = [];
    characters = 0;
  }
  if (rows.length > 0) yield rows;
}

function asJson(row: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(row).map(([name, value]) => [
    name,
    Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value,
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** Beyond all ids that were ever used: ids of released holds are not used again, either. */
async function goOnCounting(source: Database.Database, query: Querying, table: string, column: string): Promise<void> {
  const given = source.prepare<[string], number>('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck().get(table);
  await query(
    `SELECT setval(pg_get_serial_sequence($1, $2), greatest((SELECT max(${column}) FROM ${table}), $3) + 1, false)`,
    [table, column, given ?? 0],
  );
}
