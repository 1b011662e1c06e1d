import { expect } from 'chai';
import { Database } from '../../src/ledger/sqlite/driver.js';
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutFsync } from '../../src/ledger/sqlite/durability.js';
import { createLedger } from '../../src/ledger/sqlite/ledger.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { FileBench, customer, hold, SECRET, settlement, type KeyHolder } from './support.js';

const CREDITS = 100;

describe('ledger: what waits for the disk', () => {
  let bench: FileBench;

  beforeEach(() => (bench = new FileBench()));
  afterEach(() => bench.dispose());

  it('is every commit but the one that was excepted, also after one that failed', () => {
    bench.raw((database) => {
      const level = (): unknown => database.pragma('synchronous', { simple: true });
      database.pragma('synchronous = FULL');
      expect(withoutFsync(database, level)).to.equal(1);
      expect(level()).to.equal(2);
      expect(() => withoutFsync(database, () => database.exec('nonsense'))).to.throw(Database.SqliteError);
      expect(level()).to.equal(2);
      expect(database.transaction(() => withoutFsync(database, level))()).to.equal(2);
    });
  });

  /** One request after the other; returns the length of the log after each charge: what is on the disk for certain. */
  const requests = async (ledger: Ledger, ann: KeyHolder, count: number): Promise<number[]> => {
    const lengths: number[] = [];
    while (lengths.length < count) {
      const id = await hold(ledger, ann, 2);
      if (lengths.length % 3 === 2) await ledger.holds.release(await hold(ledger, ann, 1));
      await ledger.holds.settle(id, settlement(1));
      lengths.push(statSync(`${bench.path}-wal`).size);
    }
    return lengths;
  };

  /** The ledger as it is when the machine lost power and only so much of the log had reached the disk. */
  const afterPowerCut = async (
    length: number,
  ): Promise<{ charged: number; violations: unknown[]; balance: number }> => {
    const path = join(bench.directory, `cut-${length}.db`);
    copyFileSync(bench.path, path);
    writeFileSync(`${path}-wal`, readFileSync(`${bench.path}-wal`).subarray(0, length));
    const ledger = createLedger({ path, secret: SECRET, clock: () => bench.now });
    try {
      const account = await ledger.accounts.find('ann@example.com');
      if (account === null) throw new Error('The account is gone.');
      const charged = (await ledger.history.report(account.id, 1)).totalCredits;
      return {
        charged,
        violations: await ledger.audit(),
        balance: (await ledger.credits.balance(account.id)).balance,
      };
    } finally {
      await ledger.close();
    }
  };

  it('is a charge: a power cut takes at most what came after the last one, and the ledger balances', async () => {
    const ledger = await bench.server();
    const ann = await customer(ledger, 'ann@example.com', CREDITS);
    const onDisk = await requests(ledger, ann, 6);
    await hold(ledger, ann, 5);
    for (const [index, length] of onDisk.entries()) {
      const next = onDisk[index + 1] ?? statSync(`${bench.path}-wal`).size;
      for (const cut of [length, Math.floor((length + next) / 2), next - 1]) {
        const { charged, violations, balance } = await afterPowerCut(cut);
        expect(violations, `cut at ${cut}`).to.deep.equal([]);
        expect(charged, `cut at ${cut}`).to.equal(index + 1);
        expect(balance, `cut at ${cut}`).to.equal(CREDITS - charged);
      }
    }
  });
});
