/**
 * The commands that suspend, resume, export and delete an account. They make the same calls as the dashboard and the
 * API.
 */
import type { Command } from 'commander';
import { exportOf } from '../ledger/account-export.js';
import type { Account } from '../ledger/types.js';
import type { Ledger } from '../ledger/ledger.js';
import { accountByEmail, administered, withLedger } from '../service/administered-ledger.js';
import { emailOf, withAccount, type AccountFlags } from './account-options.js';
import { printableLines } from './printable.js';
import { printRow } from './rows.js';

export function addAccountsLifecycle(accounts: Command): void {
  addChange(accounts, {
    name: 'suspend',
    action: 'suspended',
    description: 'suspend an account: its keys and sessions are refused, and its requests in flight end uncharged',
    change: ({ administration }, id) => administration.suspend(id),
  });
  addChange(accounts, {
    name: 'resume',
    action: 'resumed',
    description: 'resume a suspended account',
    change: ({ administration }, id) => administration.resume(id),
  });
  addExport(accounts);
  addDelete(accounts);
}

interface Change {
  name: string;
  /** The action's name in the operators' log. */
  action: string;
  description: string;
  change: (ledger: Ledger, accountId: string) => Promise<Account>;
}

function addChange(accounts: Command, { name, action, description, change }: Change): void {
  withAccount(accounts.command(name))
    .description(description)
    .option('--json', 'print JSON')
    .action((options: AccountFlags & { json?: boolean }) =>
      withLedger(async (ledger) => {
        const { id } = await accountByEmail(ledger, emailOf(options));
        const { email, suspendedAt } = await administered(ledger, { action, subject: id }, () => change(ledger, id));
        printRow({ id, email, suspended_at: suspendedAt }, options.json === true);
      }),
    );
}

function addExport(accounts: Command): void {
  withAccount(accounts.command('export'))
    .description('print all stored data of an account, stored answers included, as one JSON document')
    .action((options: AccountFlags) =>
      withLedger(async (ledger) => {
        const { id } = await accountByEmail(ledger, emailOf(options));
        await administered(ledger, { action: 'exported', subject: id }, async () => {
          for await (const piece of exportOf(ledger, id, new Date())) await print(printableLines(piece));
        });
      }),
    );
}

/** Waits until the reader has taken the text, because an export may be larger than memory. */
function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

function addDelete(accounts: Command): void {
  withAccount(accounts.command('delete'))
    .description(
      'delete an account with its keys, sessions, jobs and stored answers; credit packs and usage stay ' +
        'under an anonymous id',
    )
    .option('--yes', 'confirm the deletion, which cannot be undone; without it nothing is deleted')
    .option('--json', 'print JSON')
    .action((options: AccountFlags & { yes?: boolean; json?: boolean }) =>
      withLedger(async (ledger) => {
        const { id, email } = await accountByEmail(ledger, emailOf(options));
        if (options.yes !== true) {
          throw new Error(`Deleting ${email} cannot be undone. To confirm, repeat the command with --yes.`);
        }
        const action = { action: 'account-deleted', subject: id };
        await administered(ledger, action, () => ledger.administration.delete(id));
        if (options.json === true) printRow({ id, deleted: email }, true);
        else console.log(`${email} is deleted; its credit packs and usage stay under the id ${id}`);
      }),
    );
}
