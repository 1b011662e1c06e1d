/** What the commands of administration share: the books, opened beside a running server. */
import { openLedger } from '../ledger/sqlite/ledger.js';
import type { Account, Ledger } from '../ledger/types.js';
import { readConfig } from '../service/config.js';
import { packageRoot } from '../package-root.js';

/** Opens the books beside a running server, and closes them whatever happens. */
export function withLedger(work: (ledger: Ledger) => void): void {
  const config = readConfig(process.env, packageRoot);
  const ledger = openLedger({ path: config.database, secret: config.secret });
  try {
    work(ledger);
  } finally {
    ledger.close();
  }
}

export function accountByEmail(ledger: Ledger, email: string): Account {
  const account = ledger.findAccount(email);
  if (account === null) throw new Error(`There is no account with the e-mail address "${email}".`);
  return account;
}
