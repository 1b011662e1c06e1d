/** What the commands of administration share: the books, opened beside a running server. */
import { openLedger } from '../ledger/sqlite/ledger.js';
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
