/** What the commands of administration share: the books, opened beside a running server. */
import { backUp, type Backup } from '../ledger/sqlite/backup.js';
import { openLedger } from '../ledger/sqlite/ledger.js';
import { restore, type Restored } from '../ledger/sqlite/restore.js';
import type { Account, Ledger } from '../ledger/types.js';
import { readConfig } from './config.js';
import { packageRoot } from '../package-root.js';

/** Opens the books beside a running server, and closes them whatever happens. */
export async function withLedger(work: (ledger: Ledger) => Promise<void>): Promise<void> {
  const config = readConfig(process.env, packageRoot);
  const ledger = openLedger({ path: config.database, secret: config.secret });
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
  const { database, secret } = readConfig(process.env, packageRoot);
  return backUp(database, file, { secret });
}

/** Puts a backup in the place of the database; throws while a server runs on it. */
export function restoreBooks(file: string): Restored {
  const { database, secret } = readConfig(process.env, packageRoot);
  return restore(file, database, { secret, now: new Date() });
}
