import { InvalidArgumentError, type Command } from 'commander';
import { MAX_GRANT } from '../ledger/rows/packs.js';
import { DAY_MS, parseIso, toIso } from '../ledger/time.js';
import { accountByEmail, administered, withLedger } from '../service/administered-ledger.js';
import { emailOf, withAccount, type AccountFlags } from './account-options.js';
import { printRow } from './rows.js';

interface GrantOptions extends AccountFlags {
  amount: number;
  expires?: string;
  payment?: string;
  json?: boolean;
}

export function addCredits(program: Command): void {
  const credits = program.command('credits').description('grant credits');
  withAccount(credits.command('grant'))
    .description('add a credit pack to an account')
    .requiredOption('--amount <n>', 'whole credits, at least 1', amount)
    .option('--expires <date>', 'YYYY-MM-DD (that day still counts, UTC) or an ISO 8601 time; default: never', expiry)
    .option('--payment <id>', 'id of the payment; a repeat with the same id and amount grants nothing more')
    .option('--json', 'print JSON')
    .action((options: GrantOptions) =>
      withLedger(async (ledger) => {
        const account = await accountByEmail(ledger, emailOf(options));
        const action = { action: 'granted', subject: account.id, detail: String(options.amount) };
        const { expiresAt } = await administered(
          ledger,
          action,
          () =>
            ledger.credits.grant({
              accountId: account.id,
              amount: options.amount,
              expiresAt: options.expires ?? null,
              paymentId: options.payment ?? null,
            }),
          // A repeated payment adds no credits.
          ({ repeated }) => ({ outcome: repeated ? 'refused' : 'done' }),
        );
        const { balance, lifetimePurchased } = await ledger.credits.balance(account.id);
        const { email } = account;
        const row = { email, balance, lifetime_purchased: lifetimePurchased, expires_at: expiresAt };
        printRow(row, options.json === true);
      }),
    );
}

function amount(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < 1 || number > MAX_GRANT) {
    throw new InvalidArgumentError(`allowed: an integer from 1 to ${MAX_GRANT}.`);
  }
  return number;
}

/** A bare date means the end of that UTC day. */
function expiry(value: string): string {
  const time = parseIso(value);
  if (time === null) {
    throw new InvalidArgumentError('allowed: YYYY-MM-DD, or a time with its zone as 2030-12-31T18:00:00Z.');
  }
  const end = value.includes('T') ? time : time + DAY_MS;
  if (end <= Date.now()) throw new InvalidArgumentError('it is in the past.');
  return toIso(end);
}
