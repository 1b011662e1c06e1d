import { expect } from 'chai';
import { Database } from '../../src/ledger/sqlite/driver.js';
import { POSTGRES_INVARIANTS } from '../../src/ledger/postgres/audit.js';
import { INVARIANTS } from '../../src/ledger/sqlite/audit.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { describeLedger, SQLITE } from './backends.js';
import { Bench, customer, hold, settlement } from './support.js';

/** For every invariant, a damage that only the audit can find. */
const DAMAGE: Record<string, string> = {
  'purchased = remaining + spent + held + expired': 'UPDATE credit_packs SET remaining = remaining + 1',
  'no amount is negative': 'UPDATE credit_packs SET expired = -1, remaining = remaining + 1',
  'what a pack holds and has spent is what its requests took':
    'UPDATE credit_packs SET spent = spent - 1, remaining = remaining + 1',
  'a hold is the sum of its parts, out of its own account': 'UPDATE holds SET credits = credits + 1',
  'every settled request has exactly one usage row': 'DELETE FROM usage_events',
  'a usage row is what its settled hold says': 'UPDATE usage_events SET credits = credits + 1',
  'the days add up to the usage rows': 'UPDATE usage_days SET minutes = minutes + 1',
  'the days of the keys add up to the usage rows': 'UPDATE usage_keys SET credits = credits + 1',
  'every stored answer has its usage row': 'UPDATE idempotency_records SET hold_id = 77',
  'every job holds its credits until it ends, and is charged once if it succeeds':
    'UPDATE holds SET job_id = NULL WHERE job_id IS NOT NULL',
  'every reference leads somewhere': 'DELETE FROM api_keys',
  'the file is sound': `UPDATE credit_packs SET held = held - 50, spent = spent + 50`,
};

describeLedger('ledger: audit', (backend) => {
  let bench: Bench;
  let ledger: Ledger;

  beforeEach(async () => {
    bench = new Bench(backend);
    ledger = await bench.server();
    const ann = await customer(ledger, 'ann@example.com', 100);
    const state = await ledger.idempotency.begin({ accountId: ann.account.id, key: 'k', fingerprint: 'f' });
    if (state.state !== 'new') throw new Error(state.state);
    await ledger.holds.settle(await hold(ledger, ann, 3), settlement(2, { idempotencyToken: state.token }));
    await hold(ledger, ann, 4);
    await ledger.jobs.create({
      ...{ id: 'job_1', accountId: ann.account.id, keyId: ann.key.id, requestId: 'req_2', options: {} },
      ...{ audioSeconds: 3, credits: 1, webhook: null, mostOpen: 1, idempotency: null },
    });
  });
  afterEach(() => bench.dispose());

  it('finds nothing in a ledger that balances, also from another process', async () => {
    expect(await ledger.audit()).to.deep.equal([]);
    expect(await (await bench.cli()).audit()).to.deep.equal([]);
  });

  const invariants = backend === SQLITE ? INVARIANTS : POSTGRES_INVARIANTS;
  for (const invariant of Object.keys(invariants)) {
    it(`finds when this is broken: ${invariant}`, async () => {
      const damage = DAMAGE[invariant];
      if (damage === undefined) throw new Error('There is no damage to show this invariant at work.');
      await (backend === SQLITE ? damageFile : damageDatabase)(bench, damage);
      const found = (await ledger.audit()).filter((violation) => violation.invariant === invariant);
      expect(found).not.to.be.empty;
      expect(found[0]?.detail).to.match(/\w+ .*\w/);
    });
  }
});

async function damageFile(bench: Bench, damage: string): Promise<void> {
  const database = new Database((await bench.place()).address);
  try {
    database.pragma('foreign_keys = OFF');
    database.pragma('ignore_check_constraints = ON');
    const triggers = database
      .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`)
      .pluck()
      .all();
    for (const trigger of triggers) database.exec(`DROP TRIGGER ${trigger}`);
    expect(database.prepare(damage).run().changes).to.be.above(0);
  } finally {
    database.close();
  }
}

async function damageDatabase(bench: Bench, damage: string): Promise<void> {
  const constraints = await bench.rows<{ table: string; name: string }>(
    `SELECT conrelid::regclass::text AS table, conname AS name FROM pg_constraint
     WHERE contype IN ('c', 'f') AND connamespace = 'verbatim'::regnamespace`,
  );
  const drops = constraints.map(({ table, name }) => `ALTER TABLE ${table} DROP CONSTRAINT "${name}";`);
  await bench.rows(drops.join(' '));
  // Triggers do not fire for a replica.
  await bench.rows(`SET session_replication_role = replica; ${damage}`);
}
