import type { Command } from 'commander';
import { withLedger } from '../service/books.js';
import { printRow, printRows } from './rows.js';

export function addAccounts(program: Command): void {
  const accounts = program.command('accounts').description('create, list and audit accounts');
  addCreate(accounts);
  addList(accounts);
  addAudit(accounts);
}

function addCreate(accounts: Command): void {
  accounts
    .command('create')
    .description('make an account; it has no credits and no keys yet')
    .requiredOption('--email <email>', "the account's e-mail address")
    .option('--name <name>', "the holder's name")
    .option('--json', 'print JSON')
    .action((options: { email: string; name?: string; json?: boolean }) =>
      withLedger(async (ledger) => {
        if ((await ledger.findAccount(options.email)) !== null) {
          throw new Error(`There is already an account for ${options.email}.`);
        }
        const account = await ledger.createAccount({ email: options.email, name: options.name ?? null });
        printRow({ id: account.id, email: account.email, name: account.name }, options.json === true);
      }),
    );
}

function addList(accounts: Command): void {
  accounts
    .command('list')
    .description('every account with its balance')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) =>
      withLedger(async (ledger) => {
        const rows = [];
        for (const { id, email, name, createdAt } of await ledger.listAccounts()) {
          const { balance } = await ledger.balance(id);
          rows.push({ id, email, name, credits: balance, created_at: createdAt });
        }
        printRows(rows, options.json === true);
      }),
    );
}

function addAudit(accounts: Command): void {
  accounts
    .command('audit')
    .description('check the invariants of the books; exit code 1 when one does not hold')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) =>
      withLedger(async (ledger) => {
        const violations = await ledger.audit();
        if (options.json === true || violations.length > 0) {
          printRows(
            violations.map(({ invariant, detail }) => ({ invariant, detail })),
            options.json === true,
          );
        } else {
          console.log('the books balance');
        }
        if (violations.length > 0) process.exitCode = 1;
      }),
    );
}
