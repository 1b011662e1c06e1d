import { Option, type Command } from 'commander';
import { ADMIN_SCOPE, MANAGEMENT_SCOPE, SCOPES } from '../ledger/scopes.js';
import { accountByEmail, administered, withLedger } from '../service/administered-ledger.js';
import { emailOf, withAccount, type AccountFlags } from './account-options.js';
import { printRow, printRows } from './rows.js';

export function addKeys(program: Command): void {
  const keys = program.command('keys').description('create, list and revoke API keys');
  addCreate(keys);
  addList(keys);
  addRevoke(keys);
}

function addCreate(keys: Command): void {
  withAccount(keys.command('create'))
    .requiredOption('--name <name>', 'what the key is for')
    .addOption(
      new Option(
        '--scope <scope>',
        `${MANAGEMENT_SCOPE}: a management key; ${ADMIN_SCOPE}: a key for all accounts of the service`,
      )
        .choices(SCOPES)
        .default(undefined),
    )
    .option('--json', 'print JSON')
    .description('create a key and print it; it is shown only this once')
    .action((options: AccountFlags & { name: string; scope?: string; json?: boolean }) =>
      withLedger(async (ledger) => {
        const account = await accountByEmail(ledger, emailOf(options));
        const scopes = options.scope === undefined ? [] : [options.scope];
        const key = await administered(ledger, { action: 'key-made', subject: account.id }, () =>
          ledger.keys.create({ accountId: account.id, name: options.name, scopes }),
        );
        if (options.json === true) {
          printRow({ id: key.id, name: key.name, prefix: key.prefix, scopes, raw_key: key.rawKey }, true);
        } else {
          console.log(key.rawKey);
        }
      }),
    );
}

function addList(keys: Command): void {
  withAccount(keys.command('list'))
    .description('list all keys of an account, newest first, without the keys themselves')
    .option('--json', 'print JSON')
    .action((options: AccountFlags & { json?: boolean }) =>
      withLedger(async (ledger) => {
        const { id, email } = await accountByEmail(ledger, emailOf(options));
        const rows = (await ledger.keys.list(id)).map((key) => ({
          id: key.id,
          name: key.name,
          prefix: key.prefix,
          scopes: options.json === true ? key.scopes : key.scopes.join(','),
          created_at: key.createdAt,
          last_used_at: key.lastUsedAt,
          revoked_at: key.revokedAt,
        }));
        printRows(rows, options.json === true, `${email} has no keys.`);
      }),
    );
}

function addRevoke(keys: Command): void {
  withAccount(keys.command('revoke'))
    .argument('<id>', "the key's id, as `verbatim keys list` shows it")
    .option('--json', 'print JSON')
    .description('revoke a key; takes effect at once, also on a running server')
    .action((id: string, options: AccountFlags & { json?: boolean }) =>
      withLedger(async (ledger) => {
        const account = await accountByEmail(ledger, emailOf(options));
        const revoked = await administered(ledger, { action: 'key-revoked', subject: account.id }, async () => {
          const found = await ledger.keys.revoke(account.id, id);
          if (found === null) throw new Error(`${account.email} has no key "${id}".`);
          return found;
        });
        if (options.json === true) {
          printRow({ id: revoked.id, revoked_at: revoked.revokedAt }, true);
        } else {
          console.log(`${revoked.id} was revoked at ${revoked.revokedAt}`);
        }
      }),
    );
}
