/** What the commands of administration share: the books, opened beside a running server. */
import { backUp, type Backup } from '../ledger/sqlite/backup.js';
import { copyToPostgres, type Copied } from '../ledger/copy/to-postgres.js';
import { restore, type Restored } from '../ledger/sqlite/restore.js';
import type { Account, Ledger } from '../ledger/types.js';
import { readConfig, type Config } from './config.js';
import { checkPostgres, isPostgres } from './database-address.js';
import { openBooks } from './ledger.js';
import { packageRoot } from '../package-root.js';
import { UsageError } from './variables.js';

/** Opens the books beside a running server, and closes them whatever happens. */
export async function withLedger(work: (ledger: Ledger) => Promise<void>): Promise<void> {
  const ledger = await openBooks(readConfig(process.env, packageRoot));
  try {
    await work(ledger);
  } finally {
    await ledger.close();
  }
}

export async function accountByEmail(ledger: Ledger, email: string): Promise<Account> {
  const account = await ledger.findAccount(email);
  if (account === null) throw new Error(`There is no account with the e-mail address "${email}".`);
  return account;
}

/** Copies database and key secret, also beside a running server. */
export function backUpBooks(file: string): Backup {
  const { database, secret } = fileConfig('pg_dump');
  return backUp(database, file, { secret });
}

/** Puts a backup in the place of the database; throws while a server runs on it. */
export function restoreBooks(file: string): Restored {
  const { database, secret } = fileConfig('pg_restore');
  return restore(file, database, { secret, now: new Date() });
}

/** Moves the books of a stopped server to PostgreSQL. Throws UsageError for what is not the address of one. */
export function copyBooks(from: string, to: string): Promise<Copied> {
  if (isPostgres(from))
    throw new UsageError('--from is an address of PostgreSQL; allowed: the path of a file.');
  return copyToPostgres(from, checkPostgres(to, '--to'));
}

function fileConfig(program: string): Config {
  const config = readConfig(process.env, packageRoot);
  if (!isPostgres(config.database)) return config;
  throw new UsageError(
    `VERBATIM_DATABASE is PostgreSQL: that is done by ${program}, see docs/operations.md.`,
  );
}
