/** The options of `credits` and `keys`. */
import { expect } from 'chai';
import { type OptionRows } from './rows.js';
import { balanceOf, CREATE_KEY, keysOf, loggedOf, OF_ADA, OF_BOB, type Row, withAccounts } from './account-places.js';

export const creditRows: OptionRows = {
  'credits grant --account': withAccounts(async (place) => {
    await place.printed(['credits', 'grant', ...OF_BOB, '--amount', '5']);
    expect(await balanceOf(place, 'bob@example.org')).to.equal(5);
    expect(await balanceOf(place, 'ada@example.org')).to.equal(0);
  }),
  'credits grant --amount': withAccounts(async (place) => {
    await place.printed(['credits', 'grant', ...OF_ADA, '--amount', '5']);
    await place.printed(['credits', 'grant', ...OF_ADA, '--amount', '7']);
    expect(await balanceOf(place, 'ada@example.org')).to.equal(12);
    expect(await place.refusal(['credits', 'grant', ...OF_ADA, '--amount', '0'])).to.contain('allowed: an integer');
  }),
  'credits grant --expires': withAccounts(async (place) => {
    const grant = ['credits', 'grant', ...OF_ADA, '--amount', '5', '--json'];
    expect(await place.json(grant)).to.deep.include({ expires_at: null });
    expect(await place.json([...grant, '--expires', '2999-12-31'])).to.deep.include({
      expires_at: '3000-01-01T00:00:00.000Z',
    });
    expect(await place.refusal([...grant, '--expires', '2001-01-01'])).to.contain('it is in the past');
  }),
  'credits grant --payment': withAccounts(async (place) => {
    const grant = ['credits', 'grant', ...OF_ADA, '--payment', 'pay_1', '--amount'];
    await place.printed([...grant, '5']);
    await place.printed([...grant, '5']);
    expect(await balanceOf(place, 'ada@example.org')).to.equal(5);
    const { status, stderr } = await place.run([...grant, '6']);
    expect(status).to.equal(1);
    expect(stderr).to.contain('has granted 5 credits');
    expect(await loggedOf(place, 'granted')).to.deep.equal([
      ['ada@example.org', '5', 'done'],
      ['ada@example.org', '5', 'refused'],
      ['ada@example.org', '6', 'refused'],
    ]);
  }),
  'credits grant --json': withAccounts(async (place) => {
    const grant = ['credits', 'grant', ...OF_ADA, '--amount', '5'];
    expect(await place.printed(grant)).to.match(/^email +balance +lifetime_purchased/);
    expect(await place.json([...grant, '--json'])).to.include({ email: 'ada@example.org', balance: 10 });
  }),
};

export const keyRows: OptionRows = {
  'keys create --account': withAccounts(async (place) => {
    await place.printed(CREATE_KEY);
    expect(await keysOf(place, OF_ADA)).to.have.length(1);
    expect(await keysOf(place, OF_BOB)).to.have.length(0);
  }),
  'keys create --name': withAccounts(async (place) => {
    await place.printed(CREATE_KEY);
    await place.printed(['keys', 'create', ...OF_ADA, '--name', 'phone']);
    expect((await keysOf(place, OF_ADA)).map((row) => row['name'])).to.have.members(['laptop', 'phone']);
  }),
  'keys create --scope': withAccounts(async (place) => {
    expect(await place.json([...CREATE_KEY, '--json'])).to.deep.include({ scopes: [] });
    await place.printed([...CREATE_KEY, '--scope', 'keys:write']);
    await place.printed([...CREATE_KEY, '--scope', 'admin']);
    const scopes = (await keysOf(place, OF_ADA)).map((row) => row['scopes']);
    expect(scopes).to.have.deep.members([[], ['keys:write'], ['admin']]);
    expect(await place.refusal([...CREATE_KEY, '--scope', 'everything'])).to.contain('keys:write');
  }),
  'keys create --json': withAccounts(async (place) => {
    expect(await place.printed(CREATE_KEY)).to.match(/^vb_[A-Za-z0-9_-]{43}\n$/);
    const key = await place.json<Row>([...CREATE_KEY, '--json']);
    expect(key).to.include({ name: 'laptop' });
    expect(String(key['raw_key']).slice(0, 11)).to.equal(key['prefix']);
  }),
  'keys list --account': withAccounts(async (place) => {
    await place.printed(CREATE_KEY);
    expect(await place.printed(['keys', 'list', ...OF_ADA])).to.contain('laptop');
    expect(await place.printed(['keys', 'list', ...OF_BOB])).to.equal('bob@example.org has no keys.\n');
  }),
  'keys list --json': withAccounts(async (place) => {
    await place.printed(CREATE_KEY);
    expect(await keysOf(place, OF_ADA)).to.have.length(1);
    expect(await place.printed(['keys', 'list', ...OF_ADA])).to.match(/^id +name +prefix +scopes/);
  }),
  'keys revoke --account': withAccounts(async (place) => {
    const { id } = await place.json<Row>([...CREATE_KEY, '--json']);
    const wrong = await place.run(['keys', 'revoke', String(id), ...OF_BOB]);
    expect(wrong.status).to.equal(1);
    expect(wrong.stderr).to.contain(`bob@example.org has no key "${String(id)}"`);
    await place.printed(['keys', 'revoke', String(id), ...OF_ADA]);
    expect((await keysOf(place, OF_ADA))[0]?.['revoked_at']).to.be.a('string');
  }),
  'keys revoke --json': withAccounts(async (place) => {
    const { id } = await place.json<Row>([...CREATE_KEY, '--json']);
    const revoke = ['keys', 'revoke', String(id), ...OF_ADA];
    const revoked = await place.json<Row>([...revoke, '--json']);
    expect(revoked).to.include({ id }).and.have.property('revoked_at');
    expect(await place.printed(revoke)).to.equal(`${String(id)} was revoked at ${String(revoked['revoked_at'])}\n`);
  }),
};
