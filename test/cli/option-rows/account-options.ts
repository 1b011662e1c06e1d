/** The second spelling of the option that names an account: the first has a row of its own with what the command does. */
import { expect } from 'chai';
import { inWorkplace, type OptionRows } from './rows.js';
import { credits, withAccounts } from './account-places.js';

const NEEDED: Readonly<Record<string, string[]>> = {
  'accounts role': ['operator'],
  'credits grant': ['--amount', '1'],
  'keys create': ['--name', 'laptop'],
  'keys revoke': ['key_1'],
};

function secondSpelling(command: string, option: string, first: string): () => Promise<void> {
  return withAccounts(async (place) => {
    const words = [...command.split(' '), ...(NEEDED[command] ?? [])];
    const { status, stderr } = await place.run([...words, option, 'nobody@example.org']);
    expect(status).to.equal(1);
    expect(stderr).to.equal('verbatim: There is no account with the e-mail address "nobody@example.org".\n');
    const both = [...words, option, 'ada@example.org', first, 'ada@example.org'];
    expect(await place.refusal(both)).to.contain('cannot be used with option');
    expect(await place.refusal(words)).to.equal("verbatim: --account is missing: the account's e-mail address.\n");
  });
}

const accountCommands = ['role', 'sign-in-link', 'suspend', 'resume', 'export', 'delete'];
const otherCommands = ['credits grant', 'keys create', 'keys list', 'keys revoke'];

export const accountOptionRows: OptionRows = {
  'accounts create --account': () =>
    inWorkplace(async (place) => {
      expect(await place.refusal(['accounts', 'create'])).to.contain('--account is missing');
      expect(await place.printed(['accounts', 'list'])).to.equal('There are no accounts yet.\n');
      await place.printed(['accounts', 'create', '--account', 'ada@example.org']);
      expect((await credits(place)).map((row) => row['email'])).to.deep.equal(['ada@example.org']);
    }),
  ...Object.fromEntries(
    accountCommands.map((name) => [
      `accounts ${name} --account`,
      secondSpelling(`accounts ${name}`, '--account', '--email'),
    ]),
  ),
  ...Object.fromEntries(otherCommands.map((name) => [`${name} --email`, secondSpelling(name, '--email', '--account')])),
};
