import { expect } from 'chai';
import type { Ledger } from '../../src/ledger/ledger.js';
import { Bench, codeOf } from './support.js';
import { describeLedger } from './backends.js';

describeLedger('ledger: ephemeral keys', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let accountId: string;
  let keyId: string;

  beforeEach(async () => {
    bench = new Bench(backend);
    ledger = await bench.server();
    accountId = (await ledger.accounts.create({ email: 'ann@example.com' })).id;
    ({ id: keyId } = await ledger.keys.create({ accountId, name: 'laptop', scopes: [] }));
  });
  afterEach(() => bench.dispose());

  const make = async (session: string | null = null, seconds = 600): Promise<string> =>
    (await ledger.keys.createEphemeral({ keyId, seconds, session })).rawKey;

  it('stand for the key that made them, and bring back what was written into them', async () => {
    const session = JSON.stringify({ language: 'de', prompt: 'Käthe 😀' });
    const { rawKey, expiresAt } = await ledger.keys.createEphemeral({ keyId, seconds: 600, session });
    expect(rawKey).to.match(/^ek_[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/);
    expect(expiresAt).to.equal(bench.now + 600_000);
    const identity = await ledger.keys.authenticateEphemeral(rawKey);
    expect(identity).to.include({ session });
    expect(identity?.account.id).to.equal(accountId);
    expect(identity?.key.id).to.equal(keyId);
    expect((await ledger.keys.authenticateEphemeral(await make()))?.session).to.equal(null);
    // Another server of the same database, and never in the place of a key.
    expect((await (await bench.server()).keys.authenticateEphemeral(rawKey))?.key.id).to.equal(keyId);
    expect(await ledger.keys.authenticate(rawKey)).to.equal(null);
    await bench.runHousekeeping();
    expect((await ledger.keys.list(accountId))[0]?.lastUsedAt).to.equal('2026-01-15T12:00:00.000Z');
  });

  it('take a session of 4000 bytes', async () => {
    const longest = '"'.repeat(4000);
    expect((await ledger.keys.authenticateEphemeral(await make(longest)))?.session).to.equal(longest);
    expect(await codeOf(() => make(`${longest}"`))).to.equal('invalid_request');
  });

  it('expire to the millisecond', async () => {
    const rawKey = await make(null, 10);
    bench.now += 9999;
    expect(await ledger.keys.authenticateEphemeral(rawKey)).not.to.equal(null);
    bench.now += 1;
    expect(await ledger.keys.authenticateEphemeral(rawKey)).to.equal(null);
  });

  it('end with the key that made them, for every process', async () => {
    const rawKey = await make();
    await (await bench.cli()).keys.revoke(accountId, keyId);
    expect(await ledger.keys.authenticateEphemeral(rawKey)).to.equal(null);
  });

  it('are refused as keys of a suspended account are', async () => {
    const rawKey = await make();
    await ledger.administration.suspend(accountId);
    expect(await codeOf(() => ledger.keys.authenticateEphemeral(rawKey))).to.equal('account_suspended');
  });

  it('are known by their exact text only', async () => {
    const rawKey = await make('{}');
    for (let at = 0; at < rawKey.length; at++) {
      const changed = rawKey.slice(0, at) + (rawKey[at] === 'A' ? 'B' : 'A') + rawKey.slice(at + 1);
      expect(await ledger.keys.authenticateEphemeral(changed), `${at}`).to.equal(null);
    }
    const [content, signature] = rawKey.split('.') as [string, string];
    const longer = Buffer.from(`${keyId} ${bench.now + 9e9} `).toString('base64url');
    const forged = ['', 'ek_', 'ek_.', content, `${content}.`, `${rawKey}=`, ` ${rawKey}`, `ek_${longer}.${signature}`];
    for (const wrong of forged) expect(await ledger.keys.authenticateEphemeral(wrong), wrong).to.equal(null);
  });

  it('of another secret are unknown', async () => {
    const other = new Bench(backend);
    const foreign = await other.server({ secret: 'another secret for tests' });
    const { id } = await foreign.accounts.create({ email: 'ann@example.com' });
    await foreign.keys.create({ accountId: id, name: 'laptop', scopes: [] });
    const { rawKey } = await foreign.keys.createEphemeral({ keyId, seconds: 600, session: null });
    expect(await ledger.keys.authenticateEphemeral(rawKey)).to.equal(null);
    await other.dispose();
  });
});
