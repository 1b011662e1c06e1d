/** The account that a command is about. */
import { Option, type Command } from 'commander';
import { UsageError } from '../service/variables.js';

export interface AccountFlags {
  account?: string;
  email?: string;
}

/** One of the two options is required. This is checked before the command does anything. */
export function withAccount(command: Command): Command {
  return command
    .option('--account <email>', "the account's e-mail address")
    .addOption(new Option('--email <email>', 'the same as --account').conflicts('account'))
    .hook('preAction', () => void emailOf(command.opts<AccountFlags>()));
}

/** Throws UsageError if neither option is given. */
export function emailOf({ account, email }: AccountFlags): string {
  const given = account ?? email;
  if (given === undefined) throw new UsageError("--account is missing: the account's e-mail address.");
  return given;
}
