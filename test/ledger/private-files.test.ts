import { chmodSync, existsSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { openLedger } from '../../src/ledger/sqlite/ledger.js';
import { FileBench, customer, hold } from './support.js';

describe('ledger: files that are only their owner’s', () => {
  let bench: FileBench;
  let umask: number;

  beforeEach(() => {
    umask = process.umask(0o022);
    bench = new FileBench();
  });
  afterEach(async () => {
    process.umask(umask);
    await bench.dispose();
  });

  const others = (path: string): number => statSync(path).mode & 0o077;
  const files = (): string[] =>
    ['', '-wal', '-shm', '.secret'].map((suffix) => bench.path + suffix).filter((path) => existsSync(path));

  it('are made so, in a directory that everybody can read', async () => {
    chmodSync(bench.directory, 0o755);
    const ledger = await bench.server({ secret: null });
    await hold(ledger, await customer(ledger, 'ann@example.com', 1), 1);
    expect(files()).to.have.length(4);
    for (const path of files()) expect(others(path), path).to.equal(0);
  });

  it('are made so again at the start, when somebody changed that', async () => {
    const first = await bench.server({ secret: null });
    const ann = await customer(first, 'ann@example.com', 7);
    for (const path of files()) chmodSync(path, 0o644);
    const ledger = await bench.cli({ secret: null });
    expect(await ledger.keys.authenticate(ann.key.rawKey)).not.to.equal(null);
    expect(files()).to.have.length(4);
    for (const path of files()) expect(others(path), path).to.equal(0);
  });

  it('are refused when the database was emptied beside its secret, saying what to do', async () => {
    const ledger = await bench.server({ secret: null });
    await customer(ledger);
    await ledger.close();
    truncateSync(bench.path);
    expect(() => openLedger({ path: bench.path })).to.throw(/0 bytes.*database restore FILE.*move .*\.secret away/);
    expect(statSync(bench.path).size).to.equal(0);
  });

  it('may be empty where there is no secret yet', async () => {
    writeFileSync(bench.path, '');
    expect(await (await bench.server()).accounts.list()).to.deep.equal([]);
  });
});
