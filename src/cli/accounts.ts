import { Argument, InvalidArgumentError, type Command } from 'commander';
import { ROLES, type Role } from '../ledger/types.js';
import type { Ledger } from '../ledger/ledger.js';
import { accountByEmail, administered, withLedger } from '../service/administered-ledger.js';
import { localUrl, signInLink } from '../service/sign-in-link.js';
import { emailOf, withAccount, type AccountFlags } from './account-options.js';
import { addAccountsLifecycle } from './accounts-lifecycle.js';
import { printRow, printRows } from './rows.js';

export function addAccounts(program: Command): void {
  const accounts = program
    .command('accounts')
    .description('create, list, suspend, export, delete and audit accounts, and let people sign in');
  addCreate(accounts);
  addList(accounts);
  addRole(accounts);
  addSignInLink(accounts);
  addAccountsLifecycle(accounts);
  addAudit(accounts);
}

function addCreate(accounts: Command): void {
  withAccount(accounts.command('create'))
    .description('create an account, without credits and keys')
    .option('--name <name>', "the holder's name")
    .option('--json', 'print JSON')
    .action((options: AccountFlags & { name?: string; json?: boolean }) =>
      withLedger(
        async (ledger) => {
          const email = emailOf(options);
          if ((await ledger.accounts.find(email)) !== null) {
            throw new Error(`There is already an account for ${email}.`);
          }
          const account = await administered(
            ledger,
            { action: 'account-made', subject: null },
            () => ledger.accounts.create({ email, name: options.name ?? null }),
            ({ id }) => ({ subject: id }),
          );
          printRow({ id: account.id, email: account.email, name: account.name }, options.json === true);
        },
        { absent: 'make' },
      ),
    );
}

function addList(accounts: Command): void {
  accounts
    .command('list')
    .description('list all accounts with their balances')
    .option('--json', 'print JSON')
    .action(async ({ json = false }: { json?: boolean }) => {
      const rows: AccountRow[] = [];
      await withLedger(async (ledger) => void rows.push(...(await rowsOf(ledger))), { absent: () => undefined });
      printRows(rows, json, 'There are no accounts yet.');
    });
}

async function rowsOf(ledger: Ledger) {
  const rows = [];
  for (const { id, email, name, role, createdAt, suspendedAt } of await ledger.accounts.list()) {
    const { balance } = await ledger.credits.balance(id);
    rows.push({ id, email, name, role, credits: balance, created_at: createdAt, suspended_at: suspendedAt });
  }
  return rows;
}

type AccountRow = Awaited<ReturnType<typeof rowsOf>>[number];

function addRole(accounts: Command): void {
  withAccount(accounts.command('role'))
    .description('set what the owner of an account sees in the dashboard')
    .addArgument(new Argument('<role>', 'operator: the whole service; user: the own account only').choices(ROLES))
    .option('--json', 'print JSON')
    .action((role: Role, options: AccountFlags & { json?: boolean }) =>
      withLedger(async (ledger) => {
        const { id } = await accountByEmail(ledger, emailOf(options));
        const action = { action: 'role-set', subject: id, detail: role };
        const account = await administered(ledger, action, () => ledger.access.setRole(id, role));
        printRow({ id, email: account.email, role: account.role }, options.json === true);
      }),
    );
}

function addSignInLink(accounts: Command): void {
  withAccount(accounts.command('sign-in-link'))
    .description('print a link that signs in to the dashboard once, within a day; it replaces the previous link')
    .option('--url <url>', 'address of the server for browsers; default: VERBATIM_HOST and VERBATIM_PORT', baseUrl)
    .option('--json', 'print JSON')
    .action((options: AccountFlags & { url?: string; json?: boolean }) =>
      withLedger(async (ledger) => {
        const { id, email } = await accountByEmail(ledger, emailOf(options));
        const action = { action: 'link-made', subject: id };
        const link = await administered(ledger, action, () => signInLink(ledger, id, options.url ?? localUrl()));
        if (options.json === true) printRow({ id, email, link }, true);
        else console.log(link);
      }),
    );
}

function baseUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && /^https?:\/\/[^/?#]+\/?$/.test(value)) return url.origin;
  throw new InvalidArgumentError('allowed: scheme and host, as https://speech.example.org.');
}

function addAudit(accounts: Command): void {
  accounts
    .command('audit')
    .description('check the invariants of the ledger; exit code 1 if one is violated')
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
          console.log('the ledger balances');
        }
        if (violations.length > 0) process.exitCode = 1;
      }),
    );
}
