import { InvalidArgumentError, type Command } from 'commander';
import { accountByEmail, printRows, withLedger } from './context.js';

export function addCredits(program: Command): void {
  const credits = program.command('credits').description('grant credits');
  credits
    .command('grant')
    .requiredOption('--account <email>', 'e-mail of the account')
    .requiredOption('--amount <n>', 'whole credits, at least 1', positiveInteger)
    .option(
      '--expires <date>',
      'YYYY-MM-DD (that day still counts, UTC) or an ISO 8601 time; default: never',
      expiry,
    )
    .option('--json', 'print JSON')
    .action((options: { account: string; amount: number; expires?: string; json?: boolean }) =>
      withLedger((ledger) => {
        const account = accountByEmail(ledger, options.account);
        ledger.grantCredits({
          accountId: account.id,
          amount: options.amount,
          expiresAt: options.expires ?? null,
        });
        const { balance, lifetimePurchased } = ledger.balance(account.id);
        printRows(
          [{ email: account.email, balance, lifetime_purchased: lifetimePurchased }],
          options.json === true,
        );
      }),
    );
}

function positiveInteger(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < 1 || number > 1e12) {
    throw new InvalidArgumentError('allowed: an integer from 1 to 1000000000000.');
  }
  return number;
}

/** A bare date means the end of that UTC day. */
function expiry(value: string): string {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? `${value}T23:59:59.999Z` : value;
  const date = new Date(time);
  if (
    !/^\d{4}-\d{2}-\d{2}/.test(value) ||
    Number.isNaN(date.getTime()) ||
    !date.toISOString().startsWith(time.slice(0, 8))
  ) {
    throw new InvalidArgumentError('allowed: YYYY-MM-DD or an ISO 8601 time.');
  }
  if (date.getTime() <= Date.now()) throw new InvalidArgumentError('the time is in the past.');
  return date.toISOString();
}
