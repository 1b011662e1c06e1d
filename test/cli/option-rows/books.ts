import { expect } from 'chai';
import { join } from 'node:path';
import { VerbatimError } from '../../../src/errors.js';
import { createLedger, openLedger } from '../../../src/ledger/sqlite/ledger.js';
import { DATABASE_PASSWORD, sharedCluster } from '../../support/postgres-cluster.js';
import { inWorkplace, type OptionRows, type Workplace } from './rows.js';

const ADA = ['--email', 'ada@example.org'];
const OF_ADA = ['--account', 'ada@example.org'];
const OF_BOB = ['--account', 'bob@example.org'];

type Row = Record<string, unknown>;

/** A workplace with the accounts of Ada and Bob. */
function withAccounts(work: (place: Workplace) => Promise<void>): () => Promise<void> {
  return () =>
    inWorkplace(async (place) => {
      await place.printed(['accounts', 'create', ...ADA]);
      await place.printed(['accounts', 'create', '--email', 'bob@example.org']);
      await work(place);
    });
}

function credits(place: Workplace): Promise<Row[]> {
  return place.json<Row[]>(['accounts', 'list', '--json']);
}

/** The books of a workplace, and an empty database. */
async function placeToCopyTo(place: Workplace): Promise<{ from: string; address: string }> {
  const cluster = await sharedCluster();
  const name = `copied_${Date.now()}`;
  await cluster.query(`CREATE DATABASE ${name}`);
  return { from: join(place.directory, 'data', 'verbatim.db'), address: cluster.url(name) };
}

/** Whose key it is in the books; null: nobody's. Or why not. */
async function whoIs({ directory }: Workplace, rawKey: string): Promise<unknown> {
  const ledger = openLedger({ path: join(directory, 'data', 'verbatim.db') });
  try {
    return (await ledger.authenticate(rawKey))?.account.email ?? null;
  } catch (error) {
    return error instanceof VerbatimError ? error.code : error;
  } finally {
    await ledger.close();
  }
}

async function balanceOf(place: Workplace, email: string): Promise<unknown> {
  return (await credits(place)).find((row) => row['email'] === email)?.['credits'];
}

async function keysOf(place: Workplace, account: readonly string[]): Promise<Row[]> {
  return place.json<Row[]>(['keys', 'list', ...account, '--json']);
}

const ofAccounts: OptionRows = {
  'accounts create --email': () =>
    inWorkplace(async (place) => {
      await place.printed(['accounts', 'create', ...ADA]);
      expect((await credits(place)).map((row) => row['email'])).to.deep.equal(['ada@example.org']);
      expect(await place.refusal(['accounts', 'create'])).to.contain('--email <email>');
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
    const [raw] = (await place.printed(CREATE)).split('\n');
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
    const [raw] = (await place.printed(CREATE)).split('\n');
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
    await place.printed(CREATE);
    const told = await place.json<Row>(['accounts', 'export', ...ADA]);
    expect(told).to.have.nested.property('account.email', 'ada@example.org');
    expect(told).to.have.nested.property('keys[0].name', 'laptop');
    const nobody = await place.run(['accounts', 'export', '--email', 'nobody@example.org']);
    expect(nobody).to.include({ status: 1, stdout: '' });
  }),
  'accounts delete --email': withAccounts(async (place) => {
    const [raw] = (await place.printed(CREATE)).split('\n');
    await place.printed(['accounts', 'delete', ...ADA, '--yes']);
    expect((await credits(place)).map((row) => row['email'])).to.deep.equal(['bob@example.org']);
    expect(await whoIs(place, raw!)).to.equal(null);
  }),
  'accounts delete --yes': withAccounts(async (place) => {
    const { status, stderr } = await place.run(['accounts', 'delete', ...ADA]);
    expect([status, stderr]).to.deep.equal([
      1,
      'verbatim: Deleting ada@example.org cannot be undone; repeat the command with --yes to do it.\n',
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
    expect(await place.printed(['accounts', 'audit'])).to.equal('the books balance\n');
  }),
};

const ofCredits: OptionRows = {
  'credits grant --account': withAccounts(async (place) => {
    await place.printed(['credits', 'grant', ...OF_BOB, '--amount', '5']);
    expect(await balanceOf(place, 'bob@example.org')).to.equal(5);
    expect(await balanceOf(place, 'ada@example.org')).to.equal(0);
  }),
  'credits grant --amount': withAccounts(async (place) => {
    await place.printed(['credits', 'grant', ...OF_ADA, '--amount', '5']);
    await place.printed(['credits', 'grant', ...OF_ADA, '--amount', '7']);
    expect(await balanceOf(place, 'ada@example.org')).to.equal(12);
    expect(await place.refusal(['credits', 'grant', ...OF_ADA, '--amount', '0'])).to.contain(
      'allowed: an integer',
    );
  }),
  'credits grant --expires': withAccounts(async (place) => {
    const grant = ['credits', 'grant', ...OF_ADA, '--amount', '5', '--json'];
    expect(await place.json(grant)).to.deep.include({ expires_at: null });
    expect(await place.json([...grant, '--expires', '2999-12-31'])).to.deep.include({
      expires_at: '3000-01-01T00:00:00.000Z',
    });
    expect(await place.refusal([...grant, '--expires', '2001-01-01'])).to.contain('it has passed already');
  }),
  'credits grant --payment': withAccounts(async (place) => {
    const grant = ['credits', 'grant', ...OF_ADA, '--payment', 'pay_1', '--amount'];
    await place.printed([...grant, '5']);
    await place.printed([...grant, '5']);
    expect(await balanceOf(place, 'ada@example.org')).to.equal(5);
    const { status, stderr } = await place.run([...grant, '6']);
    expect(status).to.equal(1);
    expect(stderr).to.contain('has granted 5 credits');
  }),
  'credits grant --json': withAccounts(async (place) => {
    const grant = ['credits', 'grant', ...OF_ADA, '--amount', '5'];
    expect(await place.printed(grant)).to.match(/^email +balance +lifetime_purchased/);
    expect(await place.json([...grant, '--json'])).to.include({ email: 'ada@example.org', balance: 10 });
  }),
};

const CREATE = ['keys', 'create', ...OF_ADA, '--name', 'laptop'];

const ofKeys: OptionRows = {
  'keys create --account': withAccounts(async (place) => {
    await place.printed(CREATE);
    expect(await keysOf(place, OF_ADA)).to.have.length(1);
    expect(await keysOf(place, OF_BOB)).to.have.length(0);
  }),
  'keys create --name': withAccounts(async (place) => {
    await place.printed(CREATE);
    await place.printed(['keys', 'create', ...OF_ADA, '--name', 'phone']);
    expect((await keysOf(place, OF_ADA)).map((row) => row['name'])).to.have.members(['laptop', 'phone']);
  }),
  'keys create --scope': withAccounts(async (place) => {
    expect(await place.json([...CREATE, '--json'])).to.deep.include({ scopes: [] });
    await place.printed([...CREATE, '--scope', 'keys:write']);
    await place.printed([...CREATE, '--scope', 'admin']);
    const scopes = (await keysOf(place, OF_ADA)).map((row) => row['scopes']);
    expect(scopes).to.have.deep.members([[], ['keys:write'], ['admin']]);
    expect(await place.refusal([...CREATE, '--scope', 'everything'])).to.contain('keys:write');
  }),
  'keys create --json': withAccounts(async (place) => {
    expect(await place.printed(CREATE)).to.match(/^vb_[A-Za-z0-9_-]{43}\n$/);
    const key = await place.json<Row>([...CREATE, '--json']);
    expect(key).to.include({ name: 'laptop' });
    expect(String(key['raw_key']).slice(0, 11)).to.equal(key['prefix']);
  }),
  'keys list --account': withAccounts(async (place) => {
    await place.printed(CREATE);
    expect(await place.printed(['keys', 'list', ...OF_ADA])).to.contain('laptop');
    expect(await place.printed(['keys', 'list', ...OF_BOB])).to.equal('');
  }),
  'keys list --json': withAccounts(async (place) => {
    await place.printed(CREATE);
    expect(await keysOf(place, OF_ADA)).to.have.length(1);
    expect(await place.printed(['keys', 'list', ...OF_ADA])).to.match(/^id +name +prefix +scopes/);
  }),
  'keys revoke --account': withAccounts(async (place) => {
    const { id } = await place.json<Row>([...CREATE, '--json']);
    const wrong = await place.run(['keys', 'revoke', String(id), ...OF_BOB]);
    expect(wrong.status).to.equal(1);
    expect(wrong.stderr).to.contain(`bob@example.org has no key "${String(id)}"`);
    await place.printed(['keys', 'revoke', String(id), ...OF_ADA]);
    expect((await keysOf(place, OF_ADA))[0]?.['revoked_at']).to.be.a('string');
  }),
  'keys revoke --json': withAccounts(async (place) => {
    const { id } = await place.json<Row>([...CREATE, '--json']);
    const revoke = ['keys', 'revoke', String(id), ...OF_ADA];
    const revoked = await place.json<Row>([...revoke, '--json']);
    expect(revoked).to.include({ id }).and.have.property('revoked_at');
    expect(await place.printed(revoke)).to.equal(
      `${String(id)} is revoked since ${String(revoked['revoked_at'])}\n`,
    );
  }),
};

const ofDatabase: OptionRows = {
  'database backup --json': withAccounts(async (place) => {
    const file = join(place.directory, 'one.db');
    expect(await place.json(['database', 'backup', file, '--json'])).to.include({ file });
    const other = join(place.directory, 'other.db');
    expect(await place.printed(['database', 'backup', other])).to.match(
      /^wrote .*other\.db.* \(\d+ bytes\)\n$/,
    );
  }),
  'database copy --from': withAccounts(async (place) => {
    const { from, address } = await placeToCopyTo(place);
    expect(await place.refusal(['database', 'copy', '--to', address])).to.contain('--from <file>');
    expect(await place.refusal(['database', 'copy', '--from', address, '--to', address])).to.contain(
      'allowed: the path of a file',
    );
    const nowhere = await place.run(['database', 'copy', '--from', `${from}.none`, '--to', address]);
    expect(nowhere).to.include({ status: 1 });
    expect(nowhere.stderr).to.contain('There is no database at');
  }),
  'database copy --to': withAccounts(async (place) => {
    const { from, address } = await placeToCopyTo(place);
    expect(await place.refusal(['database', 'copy', '--from', from, '--to', 'books.db'])).to.contain('--to');
    const copy = ['database', 'copy', '--from', from, '--to', address];
    expect(await place.printed(copy)).to.contain('copied 2 accounts');
    const moved = { VERBATIM_DATABASE: address };
    expect(await place.json<Row[]>(['accounts', 'list', '--json'], moved)).to.deep.equal(
      await credits(place),
    );
    const again = await place.run(copy);
    expect(again.stderr).to.contain('not empty').and.not.to.contain(DATABASE_PASSWORD);
    const backup = await place.run(['database', 'backup', 'b.db'], moved);
    expect(backup).to.include({ status: 2 });
    expect(backup.stderr).to.contain('pg_dump');
    expect((await place.run(['database', 'restore', 'b.db'], moved)).stderr).to.contain('pg_restore');
  }),
  'database copy --json': withAccounts(async (place) => {
    const { from, address } = await placeToCopyTo(place);
    const copied = await place.json<Row>(['database', 'copy', '--from', from, '--to', address, '--json']);
    expect(copied['rows']).to.include({ accounts: 2, api_keys: 0 });
  }),
  'database restore --json': withAccounts(async (place) => {
    const file = join(place.directory, 'backup.db');
    await place.printed(['database', 'backup', file]);
    const database = join(place.directory, 'data', 'verbatim.db');
    expect(await place.json(['database', 'restore', file, '--json'])).to.include({ database });
    expect(await place.printed(['database', 'restore', file])).to.match(
      /^restored .*verbatim\.db; what was there/,
    );
  }),
};

/** Two jobs that are to tell of their end, and have; each end is an event. */
function withEvents(work: (place: Workplace, ids: string[]) => Promise<void>): () => Promise<void> {
  return () =>
    inWorkplace(async (place) => {
      const ledger = createLedger({ path: join(place.directory, 'data', 'verbatim.db') });
      const { id: accountId } = await ledger.createAccount({ email: 'ada@example.org' });
      const { id: keyId } = await ledger.createKey({ accountId, name: 'test', scopes: [] });
      for (const id of ['job_1', 'job_2']) {
        await ledger.jobs.create({
          ...{ id, accountId, keyId, requestId: 'req', options: {}, audioSeconds: 3, credits: 0 },
          webhook: { url: `https://example.org/${id}`, secret: 'whsec_AAAA' },
          ...{ mostOpen: 2, idempotency: null },
        });
        await ledger.jobs.end(accountId, id, 'cancel');
      }
      const taken = await ledger.webhooks.take({ leaseMs: 1000, mostPerAccount: 1 });
      await ledger.webhooks.delivered(taken!.lease);
      const events = await ledger.webhooks.list({ state: null, limit: 2 });
      await ledger.close();
      await work(
        place,
        events.map(({ id }) => id),
      );
    });
}

const events = (place: Workplace, ...words: string[]): Promise<Row[]> =>
  place.json<Row[]>(['webhooks', 'list', ...words, '--json']);

const ofWebhooks: OptionRows = {
  'webhooks list --state': withEvents(async (place) => {
    expect(await events(place)).to.have.length(2);
    expect((await events(place, '--state', 'delivered')).map((row) => row['job'])).to.have.length(1);
    expect(await place.refusal(['webhooks', 'list', '--state', 'lost'])).to.contain(
      'pending, delivered, failed',
    );
  }),
  'webhooks list --limit': withEvents(async (place) => {
    expect(await events(place, '--limit', '1')).to.have.length(1);
    expect(await place.refusal(['webhooks', 'list', '--limit', '0'])).to.contain('an integer from 1 to 1000');
  }),
  'webhooks list --json': withEvents(async (place, ids) => {
    expect((await events(place)).map((row) => row['id'])).to.deep.equal(ids);
    expect(await place.printed(['webhooks', 'list'])).to.match(/^id +job +state +url +created_at/);
  }),
  'webhooks retry --json': withEvents(async (place, ids) => {
    const [delivered] = await events(place, '--state', 'delivered');
    const id = String(delivered?.['id']);
    expect(ids).to.include(id);
    expect(await place.json(['webhooks', 'retry', id, '--json'])).to.include({ id, state: 'pending' });
    expect(await events(place, '--state', 'pending')).to.have.length(2);
    expect(await place.printed(['webhooks', 'retry', id])).to.equal(`${id} is due now\n`);
    const { status, stderr } = await place.run(['webhooks', 'retry', 'msg_none']);
    expect([status, stderr]).to.deep.equal([1, 'verbatim: There is no event "msg_none".\n']);
  }),
};

export const bookRows: OptionRows = {
  ...ofAccounts,
  ...ofCredits,
  ...ofKeys,
  ...ofWebhooks,
  ...ofDatabase,
};
