import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { FileBench, refusal } from './support.js';

describe('ledger: server secret', () => {
  let bench: FileBench;
  let file: string;

  beforeEach(() => {
    bench = new FileBench();
    file = `${bench.path}.secret`;
  });
  afterEach(() => bench.dispose());

  const accountWithKey = async (): Promise<{ rawKey: string; accountId: string; keyId: string }> => {
    const ledger = await bench.server({ secret: null });
    const accountId = (await ledger.accounts.create({ email: 'ann@example.com' })).id;
    const { rawKey, id } = await ledger.keys.create({ accountId, name: 'laptop', scopes: [] });
    await ledger.close();
    return { rawKey, accountId, keyId: id };
  };

  it('makes a file only its owner can read, once', async () => {
    const { rawKey } = await accountWithKey();
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const text = readFileSync(file, 'utf8');
    expect(text).to.match(/^[0-9a-f]{64}\n$/);
    expect(await (await bench.server({ secret: null })).keys.authenticate(rawKey)).not.to.equal(null);
    expect(readFileSync(file, 'utf8')).to.equal(text);
  });

  it('makes no file when the secret is given, nor when none is needed', async () => {
    await bench.server();
    const cli = await bench.cli({ secret: null });
    await cli.accounts.create({ email: 'ann@example.com' });
    expect(statSync(file, { throwIfNoEntry: false })).to.equal(undefined);
  });

  it('refuses a damaged file', async () => {
    await accountWithKey();
    writeFileSync(file, 'not a secret\n');
    expect((await refusal(() => bench.server({ secret: null }))).message).to.contain('is damaged');
  });

  it('refuses another secret than the one the keys were made with', async () => {
    await accountWithKey();
    expect((await refusal(() => bench.server())).message).to.contain('made with another secret than VERBATIM_SECRET');
    rmSync(file);
    expect((await refusal(() => bench.server({ secret: null }))).message).to.contain('made with another secret');
    expect(statSync(file, { throwIfNoEntry: false })).to.equal(undefined);
  });

  it('takes a new secret once every key is revoked, which needs no secret', async () => {
    const { accountId, keyId, rawKey } = await accountWithKey();
    rmSync(file);
    const cli = await bench.cli({ secret: null });
    expect((await cli.keys.revoke(accountId, keyId))?.id).to.equal(keyId);
    expect(await (await bench.server()).keys.authenticate(rawKey)).to.equal(null);
  });
});
