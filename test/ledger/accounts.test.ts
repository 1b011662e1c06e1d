import { expect } from 'chai';
import type { Ledger } from '../../src/ledger/ledger.js';
import { Bench, codeOf, refusal } from './support.js';
import { describeLedger } from './backends.js';

describeLedger('ledger: accounts and packs', (backend) => {
  let bench: Bench;
  let ledger: Ledger;

  beforeEach(async () => {
    bench = new Bench(backend);
    ledger = await bench.server();
  });
  afterEach(() => bench.dispose());

  it('creates, finds and lists accounts, whatever the case of the address', async () => {
    const ann = await ledger.accounts.create({ email: ' Ann@Example.com ', name: 'Ann' });
    expect(ann).to.include({ email: 'ann@example.com', name: 'Ann', createdAt: '2026-01-15T12:00:00.000Z' });
    expect(ann.id).to.match(/^acc_[A-Za-z0-9_-]{16}$/);
    bench.now += 1;
    const bob = await ledger.accounts.create({ email: 'bob@example.com' });
    expect(bob.name).to.equal(null);
    expect(await ledger.accounts.find('ANN@example.com')).to.deep.equal(ann);
    expect(await ledger.accounts.find('nobody@example.com')).to.equal(null);
    expect(await ledger.accounts.list()).to.deep.equal([ann, bob]);
  });

  it('refuses a second account for an address, and what is no address', async () => {
    await ledger.accounts.create({ email: 'ann@example.com' });
    expect((await refusal(() => ledger.accounts.create({ email: 'Ann@example.com' }))).message).to.contain(
      'already an account',
    );
    for (const email of ['', 'ann', 'ann@', '@example.com', 'a n@example.com', `${'a'.repeat(250)}@b.de`]) {
      expect(await codeOf(() => ledger.accounts.create({ email })), email).to.equal('invalid_request');
    }
  });

  it('refuses addresses and names that would move a cursor or turn a line', async () => {
    for (const bad of ['\u001b[2J', '\u0007', '\u009b1m', 'a\rb', 'a\nb', '\u202egnp', '\u2028', '\ud800']) {
      const name = `Ann${bad}`;
      const create = (input: { email: string; name?: string }): Promise<string> =>
        codeOf(() => ledger.accounts.create(input));
      expect(await create({ email: `ann${bad}@example.com` }), JSON.stringify(bad)).to.equal('invalid_request');
      expect(await create({ email: 'ann@example.com', name: `${name}.` }), JSON.stringify(bad)).to.equal(
        'invalid_request',
      );
    }
    expect(await codeOf(() => ledger.accounts.create({ email: 'a@b.c', name: 'x'.repeat(101) }))).to.equal(
      'invalid_request',
    );
    const { name } = await ledger.accounts.create({ email: 'zoë@example.com', name: 'Zoë 👩‍🚀 Ōtani' });
    expect(name).to.equal('Zoë 👩‍🚀 Ōtani');
  });

  it('grants packs, with and without an expiry', async () => {
    const { id: accountId } = await ledger.accounts.create({ email: 'ann@example.com' });
    const pack = await ledger.credits.grant({ accountId, amount: 10, expiresAt: '2026-06-30T12:00:00+02:00' });
    expect(pack).to.deep.equal({
      id: '1',
      accountId,
      purchased: 10,
      remaining: 10,
      createdAt: '2026-01-15T12:00:00.000Z',
      expiresAt: '2026-06-30T10:00:00.000Z',
      paymentId: null,
      note: null,
      repeated: false,
    });
    expect((await ledger.credits.grant({ accountId, amount: 5 })).expiresAt).to.equal(null);
    expect((await ledger.credits.grant({ accountId, amount: 1, expiresAt: '2028-02-29' })).expiresAt).to.equal(
      '2028-02-29T00:00:00.000Z',
    );
    expect(await ledger.credits.balance(accountId)).to.deep.equal({ balance: 16, lifetimePurchased: 16 });
  });

  it('refuses amounts and dates that make no sense', async () => {
    const { id: accountId } = await ledger.accounts.create({ email: 'ann@example.com' });
    for (const amount of [0, -1, 1.5, NaN, Infinity, 1e13]) {
      expect(await codeOf(() => ledger.credits.grant({ accountId, amount })), String(amount)).to.equal(
        'invalid_request',
      );
    }
    for (const expiresAt of ['tomorrow', '2026-02-30', '2027-02-29', '2026-13-01', '2020-01-01', '1/2/2030', '']) {
      expect(await codeOf(() => ledger.credits.grant({ accountId, amount: 1, expiresAt })), expiresAt).to.equal(
        'invalid_request',
      );
    }
    expect(await codeOf(() => ledger.credits.grant({ accountId: 'acc_none', amount: 1 }))).to.equal(
      'account_not_found',
    );
    expect((await ledger.credits.balance(accountId)).lifetimePurchased).to.equal(0);
  });

  it('has no credits for an account that does not exist', async () => {
    expect(await ledger.credits.balance('acc_none')).to.deep.equal({ balance: 0, lifetimePurchased: 0 });
  });
});
