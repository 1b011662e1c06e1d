import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import type { Ledger } from '../../src/ledger/ledger.js';
import { Bench, codeOf, SECRET } from './support.js';
import { describeLedger } from './backends.js';

describeLedger('ledger: API keys', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let accountId: string;

  beforeEach(async () => {
    bench = new Bench(backend);
    ledger = await bench.server();
    accountId = (await ledger.accounts.create({ email: 'ann@example.com', name: 'Ann' })).id;
  });
  afterEach(() => bench.dispose());

  it('makes a key, shows it once, and stores nothing but its HMAC', async () => {
    const key = await ledger.keys.create({ accountId, name: ' laptop ', scopes: ['keys:write'] });
    expect(key.rawKey).to.match(/^vb_[A-Za-z0-9_-]{43}$/);
    expect(key.prefix).to.equal(key.rawKey.slice(0, 11));
    expect(key).to.include({ name: 'laptop', lastUsedAt: null, revokedAt: null, accountId });
    const [row] = await bench.rows<Record<string, unknown>>('SELECT * FROM api_keys');
    expect(row?.['digest']).to.deep.equal(createHmac('sha256', SECRET).update(key.rawKey).digest());
    expect(JSON.stringify(row)).not.to.contain(key.rawKey.slice(12));
  });

  it('knows a key by its exact text only', async () => {
    const { rawKey, id } = await ledger.keys.create({ accountId, name: 'laptop', scopes: [] });
    expect(await ledger.keys.authenticate(rawKey)).to.deep.include({
      account: {
        id: accountId,
        email: 'ann@example.com',
        name: 'Ann',
        createdAt: '2026-01-15T12:00:00.000Z',
        role: 'user',
        suspendedAt: null,
      },
    });
    expect((await ledger.keys.authenticate(rawKey))?.key).to.include({ id, name: 'laptop' });
    const last = rawKey.endsWith('A') ? 'B' : 'A';
    for (const wrong of ['', 'vb_', rawKey.slice(0, -1) + last, `${rawKey} `, rawKey.slice(3), `${rawKey}A`]) {
      expect(await ledger.keys.authenticate(wrong), wrong).to.equal(null);
    }
  });

  it('revokes at once, for every process, and keeps the first time', async () => {
    const { rawKey, id } = await ledger.keys.create({ accountId, name: 'laptop', scopes: [] });
    const other = await bench.cli();
    expect((await other.keys.authenticate(rawKey))?.key.id).to.equal(id);
    expect(await ledger.keys.revokedAmong([id, 'key_none'])).to.deep.equal([]);
    const first = await other.keys.revoke(accountId, id);
    expect(first).to.deep.equal({ id, revokedAt: '2026-01-15T12:00:00.000Z' });
    expect(await ledger.keys.authenticate(rawKey)).to.equal(null);
    expect(await ledger.keys.revokedAmong([id, 'key_none'])).to.deep.equal([id]);
    bench.now += 5000;
    expect(await ledger.keys.revoke(accountId, id)).to.deep.equal(first);
    expect(await ledger.keys.revokedAmong([])).to.deep.equal([]);
  });

  it("finds no key of another account's", async () => {
    const { id } = await ledger.keys.create({ accountId, name: 'laptop', scopes: [] });
    const bob = await ledger.accounts.create({ email: 'bob@example.com' });
    expect(await ledger.keys.revoke(bob.id, id)).to.equal(null);
    expect(await ledger.keys.revoke(accountId, 'key_none')).to.equal(null);
    expect((await ledger.keys.list(accountId))[0]?.revokedAt).to.equal(null);
    expect(await ledger.keys.list(bob.id)).to.deep.equal([]);
  });

  it('lists newest first, revoked ones too, also within one millisecond', async () => {
    const names = ['a', 'b', 'c'];
    const ids: string[] = [];
    for (const name of names) ids.push((await ledger.keys.create({ accountId, name, scopes: [] })).id);
    await ledger.keys.revoke(accountId, ids[1]!);
    const keys = await ledger.keys.list(accountId);
    expect(keys.map((key) => key.name)).to.deep.equal(['c', 'b', 'a']);
    expect(keys.map((key) => key.revokedAt !== null)).to.deep.equal([false, true, false]);
    expect(keys[0]).not.to.have.property('rawKey');
  });

  it('writes uses on close, not one by one, and never back in time', async () => {
    const { rawKey, id } = await ledger.keys.create({ accountId, name: 'laptop', scopes: [] });
    const stored = async (): Promise<unknown> =>
      (await bench.rows<{ used: unknown }>(`SELECT last_used_at AS used FROM api_keys WHERE id = '${id}'`))[0]?.used;
    const other = await bench.server();
    await ledger.keys.authenticate(rawKey);
    expect(await stored()).to.equal(null);
    expect((await ledger.keys.list(accountId))[0]?.lastUsedAt).to.equal('2026-01-15T12:00:00.000Z');
    bench.now += 60_000;
    await other.keys.authenticate(rawKey);
    await other.close();
    expect(await stored()).to.equal(bench.now);
    await ledger.close();
    expect(await stored()).to.equal(bench.now);
  });

  it('writes uses every few seconds while it runs', async () => {
    const { rawKey } = await ledger.keys.create({ accountId, name: 'laptop', scopes: [] });
    await (await bench.server()).keys.authenticate(rawKey);
    expect((await ledger.keys.list(accountId))[0]?.lastUsedAt).to.equal(null);
    await bench.runHousekeeping();
    expect((await ledger.keys.list(accountId))[0]?.lastUsedAt).to.equal('2026-01-15T12:00:00.000Z');
  });

  it('refuses bad names, unknown scopes and unknown accounts', async () => {
    const create = (name: string, scopes: string[] = [], account = accountId): Promise<string> =>
      codeOf(() => ledger.keys.create({ accountId: account, name, scopes }));
    for (const name of ['', '   ', 'x'.repeat(101), 'a\0b', 'a\nb', '\ud800', 'a\u202eb']) {
      expect(await create(name)).to.equal('invalid_request');
    }
    expect(await create('ok', ['keys:read'])).to.equal('invalid_request');
    expect(await create('ok', [], 'acc_none')).to.equal('account_not_found');
    const hundred = '😀'.repeat(100);
    expect((await ledger.keys.create({ accountId, name: hundred, scopes: [] })).name).to.equal(hundred);
  });
});
