/** Opens the ledger for administrative commands. A server may be running on it. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { SetupError } from '../errors.js';
import { backUp, type Backup } from '../ledger/sqlite/backup.js';
import { copyToPostgres, type Copied } from '../ledger/copy/to-postgres.js';
import { restore, type Restored } from '../ledger/sqlite/restore.js';
import { recordAction, type ActionOutcome, type OperatorAction } from '../ledger/operators.js';
import type { Account } from '../ledger/types.js';
import type { Ledger } from '../ledger/ledger.js';
import { readConfig, type Config } from './config.js';
import { checkPostgres, isPostgres } from './database-address.js';
import { openConfiguredLedger } from './ledger.js';
import { ownCommand, packageRoot } from '../package-root.js';
import { UsageError } from './variables.js';

interface WithLedgerOptions {
  /** If there is no database file yet: 'make' creates one, a function is called instead. Default: throws SetupError. */
  absent?: 'make' | (() => void);
}

/** Opens the ledger, also beside a running server, and always closes it. */
export async function withLedger(
  work: (ledger: Ledger) => Promise<void>,
  { absent }: WithLedgerOptions = {},
): Promise<void> {
  const config = readConfig(process.env, packageRoot);
  const { database } = config;
  if (absent !== 'make' && !isPostgres(database) && !existsSync(database)) {
    if (absent === undefined) throw noDatabase(database);
    absent();
    return;
  }
  const ledger = await openConfiguredLedger(config);
  try {
    await work(ledger);
  } finally {
    await ledger.close();
  }
}

function noDatabase(database: string): SetupError {
  return new SetupError(
    `There is no database "${database}". Name the server's in VERBATIM_DATA_DIR or VERBATIM_DATABASE. ` +
      `The first start of a server creates one, and so does: ${ownCommand} accounts create`,
  );
}

/**
 * Runs an action of the command line and records it in the operators' log. `outcomeOf`: the subject of the action if it
 * created one, or the fact that nothing was done.
 */
export function administered<T>(
  ledger: Ledger,
  action: Pick<OperatorAction, 'action' | 'subject' | 'detail'>,
  work: () => Promise<T>,
  outcomeOf: (done: T) => Partial<ActionOutcome> = () => ({}),
): Promise<T> {
  return recordAction(ledger.operators, { operatorId: null, ...action }, work, (done) => {
    return { outcome: 'done', ...outcomeOf(done) };
  });
}

export async function accountByEmail(ledger: Ledger, email: string): Promise<Account> {
  const account = await ledger.accounts.find(email);
  if (account === null) throw new Error(`There is no account with the e-mail address "${email}".`);
  return account;
}

/** Copies the database and the key secret. Works beside a running server. */
export function backUpDatabase(file: string): Backup {
  const { database, secret } = fileConfig('pg_dump');
  return backUp(database, file, { secret, noted: { action: 'database-backed-up', detail: resolve(file) } });
}

/** Replaces the database with a backup. Throws if a server runs on it. */
export function restoreDatabase(file: string): Restored {
  const { database, secret } = fileConfig('pg_restore');
  const noted = { action: 'database-restored', detail: resolve(file) };
  return restore(file, database, { secret, now: new Date(), noted });
}

/**
 * Copies the ledger of a stopped server to PostgreSQL. Throws UsageError unless `from` is a file and `to` is a
 * PostgreSQL address.
 */
export function copyDatabase(from: string, to: string): Promise<Copied> {
  if (isPostgres(from)) throw new UsageError('--from is an address of PostgreSQL; allowed: the path of a file.');
  const noted = { action: 'database-copied', detail: resolve(from) };
  return copyToPostgres(from, checkPostgres(to, '--to'), noted);
}

function fileConfig(program: string): Config {
  const config = readConfig(process.env, packageRoot);
  if (!isPostgres(config.database)) return config;
  throw new UsageError(`VERBATIM_DATABASE is PostgreSQL: use ${program} instead, see docs/postgresql.md.`);
}
