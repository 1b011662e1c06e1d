/** The options of `accounts`. */
import { expect } from 'chai';
import { inWorkplace, type OptionRows } from './rows.js';
import { ADA, CREATE_KEY, credits, type Row, whoIs, withAccounts } from './account-places.js';

export const accountRows: OptionRows = {
  'accounts create --email': () =>
    inWorkplace(async (place) => {
      await place.printed(['accounts', 'create', ...ADA]);
      expect((await credits(place)).map((row) => row['email'])).to.deep.equal(['ada@example.org']);
    }),
  'accounts create --name': () =>
    inWorkplace(async (place) => {
      await place.printed(['accounts', 'create', ...ADA, '--name', 'Ada']);
      await place.printed(['accounts', 'create', '--email', 'bob@example.org']);
      expect((await credits(place)).map((row) => row['name'])).to.have.members(['Ada', null]);
    }),
  'accounts create --json': () =>
    inWorkplace(async (place) => {
      const made = await place.json<Row>(['accounts', 'create', ...ADA, '--json']);
      expect(made).to.include({ email: 'ada@example.org', name: null }).and.have.property('id');
      const table = await place.printed(['accounts', 'create', '--email', 'bob@example.org']);
      expect(table).to.match(/^id +email +name\n\S+ +bob@example\.org +-\n$/);
    }),
  'accounts list --json': withAccounts(async (place) => {
    expect(await credits(place)).to.have.length(2);
    expect(await place.printed(['accounts', 'list'])).to.match(
      /^id +email +name +role +credits +created_at +suspended_at\n/,
    );
  }),
  'accounts role --email': withAccounts(async (place) => {
    await place.printed(['accounts', 'role', 'operator', ...ADA]);
    const roles = (await credits(place)).map((row) => [row['email'], row['role']]);
    expect(Object.fromEntries(roles)).to.deep.equal({
      'ada@example.org': 'operator',
      'bob@example.org': 'user',
    });
    expect(await place.refusal(['accounts', 'role', 'king', ...ADA])).to.contain('user, operator');
  }),
  'accounts role --json': withAccounts(async (place) => {
    const made = await place.json<Row>(['accounts', 'role', 'operator', ...ADA, '--json']);
    expect(made).to.include({ email: 'ada@example.org', role: 'operator' });
  }),
  'accounts sign-in-link --email': withAccounts(async (place) => {
    const link = await place.printed(['accounts', 'sign-in-link', ...ADA]);
    expect(link).to.match(/^http:\/\/127\.0\.0\.1:8080\/dashboard\/link\?token=[\w-]{43}\n$/);
    expect(await place.printed(['accounts', 'sign-in-link', ...ADA])).not.to.equal(link);
    const nobody = await place.run(['accounts', 'sign-in-link', '--email', 'nobody@example.org']);
    expect(nobody.status).to.equal(1);
    expect(nobody.stderr).to.contain('no account');
  }),
  'accounts sign-in-link --url': withAccounts(async (place) => {
    const make = ['accounts', 'sign-in-link', ...ADA, '--url'];
    expect(await place.printed([...make, 'https://speech.example.org/'])).to.match(
      /^https:\/\/speech\.example\.org\/dashboard\/link\?token=/,
    );
    for (const url of ['speech.example.org', 'ftp://speech.example.org', 'https://speech.example.org/a'])
      expect(await place.refusal([...make, url])).to.contain('allowed: scheme and host');
  }),
  'accounts sign-in-link --json': withAccounts(async (place) => {
    const made = await place.json<Row>(['accounts', 'sign-in-link', ...ADA, '--json']);
    expect(made).to.include({ email: 'ada@example.org' }).and.have.property('link');
  }),
  'accounts suspend --email': withAccounts(async (place) => {
    const [raw] = (await place.printed(CREATE_KEY)).split('\n');
    await place.printed(['accounts', 'suspend', ...ADA]);
    expect((await credits(place)).filter((row) => row['suspended_at'] !== null)).to.have.length(1);
    expect(await whoIs(place, raw!)).to.equal('account_suspended');
  }),
  'accounts suspend --json': withAccounts(async (place) => {
    const suspended = await place.json<Row>(['accounts', 'suspend', ...ADA, '--json']);
    expect(suspended).to.include({ email: 'ada@example.org' });
    expect(suspended['suspended_at']).to.match(/Z$/);
    expect(await place.printed(['accounts', 'suspend', ...ADA])).to.match(/^id +email +suspended_at\n/);
  }),
  'accounts resume --email': withAccounts(async (place) => {
    const [raw] = (await place.printed(CREATE_KEY)).split('\n');
    await place.printed(['accounts', 'suspend', ...ADA]);
    await place.printed(['accounts', 'resume', ...ADA]);
    expect(await whoIs(place, raw!)).to.equal('ada@example.org');
  }),
  'accounts resume --json': withAccounts(async (place) => {
    await place.printed(['accounts', 'suspend', ...ADA]);
    const resumed = await place.json<Row>(['accounts', 'resume', ...ADA, '--json']);
    expect(resumed).to.include({ email: 'ada@example.org', suspended_at: null });
  }),
  'accounts export --email': withAccounts(async (place) => {
    await place.printed(CREATE_KEY);
    const reported = await place.json<Row>(['accounts', 'export', ...ADA]);
    expect(reported).to.have.nested.property('account.email', 'ada@example.org');
    expect(reported).to.have.nested.property('keys[0].name', 'laptop');
    const nobody = await place.run(['accounts', 'export', '--email', 'nobody@example.org']);
    expect(nobody).to.include({ status: 1, stdout: '' });
  }),
  'accounts delete --email': withAccounts(async (place) => {
    const [raw] = (await place.printed(CREATE_KEY)).split('\n');
    await place.printed(['accounts', 'delete', ...ADA, '--yes']);
    expect((await credits(place)).map((row) => row['email'])).to.deep.equal(['bob@example.org']);
    expect(await whoIs(place, raw!)).to.equal(null);
  }),
  'accounts delete --yes': withAccounts(async (place) => {
    const { status, stderr } = await place.run(['accounts', 'delete', ...ADA]);
    expect([status, stderr]).to.deep.equal([
      1,
      'verbatim: Deleting ada@example.org cannot be undone. To confirm, repeat the command with --yes.\n',
    ]);
    expect(await credits(place)).to.have.length(2);
    expect(await place.printed(['accounts', 'delete', ...ADA, '--yes'])).to.contain('is deleted');
  }),
  'accounts delete --json': withAccounts(async (place) => {
    const deleted = await place.json<Row>(['accounts', 'delete', ...ADA, '--yes', '--json']);
    expect(deleted).to.include({ deleted: 'ada@example.org' }).and.have.property('id');
  }),
  'accounts audit --json': withAccounts(async (place) => {
    expect(await place.json(['accounts', 'audit', '--json'])).to.deep.equal([]);
    expect(await place.printed(['accounts', 'audit'])).to.equal('the ledger balances\n');
  }),
};
