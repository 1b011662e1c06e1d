/** The schema on PostgreSQL: earlier versions of it are brought to this one, others are refused. */
import { expect } from 'chai';
import { Connections, type Querying } from '../../src/ledger/postgres/connections.js';
import { migratePostgres } from '../../src/ledger/postgres/migrate.js';
import { POSTGRES_MIGRATIONS } from '../../src/ledger/postgres/migrations/index.js';
import { emptyDatabase, POSTGRESQL, type Place } from './backends.js';
import { Bench, refusal, settlement } from './support.js';

describe('the schema on PostgreSQL', () => {
  let bench: Bench;
  let place: Place;

  beforeEach(async () => {
    bench = new Bench(POSTGRESQL);
    place = await bench.place();
  });
  afterEach(() => bench.dispose());

  it('refuses a ledger of a newer version, and a schema that is not its own', async () => {
    await bench.rows('UPDATE schema_version SET version = 99');
    expect((await refusal(() => bench.server())).message).to.contain('schema version 99');
    await bench.rows('DROP TABLE schema_version');
    expect((await refusal(() => bench.server())).message).to.contain("not one of Verbatim's");
  });

  const within = async (address: string, work: (query: Querying) => Promise<unknown>): Promise<void> => {
    const connections = new Connections(address, 1);
    try {
      await connections.with(work, 5_000);
    } finally {
      await connections.close();
    }
  };

  it('keeps the charges of version 7, which noted no model, and notes it of those that follow', async () => {
    const address = await emptyDatabase(place);
    const written = [
      `INSERT INTO accounts (id, email, created_at) VALUES ('acc', 'ann@example.com', 0)`,
      `INSERT INTO api_keys (id, account_id, name, prefix, digest, scopes, created_at)
       VALUES ('key', 'acc', 'k', 'vb_01234567', decode(repeat('00', 32), 'hex'), '[]', 0)`,
      `INSERT INTO credit_packs (id, account_id, purchased, remaining, spent, created_at) VALUES (1, 'acc', 9, 7, 2, 0)`,
      `INSERT INTO holds (account_id, key_id, request_id, credits, created_at, settled_at)
       VALUES ('acc', 'key', 'req', 2, 0, 0)`,
      `INSERT INTO hold_parts VALUES (1, 1, 2)`,
      `INSERT INTO usage_events VALUES (1, 'acc', 'key', 'req', '/api/v1/transcribe', 90000, 2, 2, 0, 'tr_1', 'en')`,
      `INSERT INTO usage_days VALUES ('acc', 0, '/api/v1/transcribe', 1, 2, 2)`,
    ];
    await within(address, async (query) => {
      await migratePostgres(query, POSTGRES_MIGRATIONS.slice(0, 7));
      for (const sql of written) await query(sql);
    });
    const ledger = await bench.server({ address });
    const { id } = await ledger.holds.place({ accountId: 'acc', keyId: 'key', requestId: 'req_2', credits: 1 });
    await ledger.holds.settle(id, settlement(1, { model: 'large-v3' }));
    const charged = await ledger.history.charged('acc', { limit: 9, before: null });
    expect(charged.map(({ model, credits }) => [model, credits])).to.deep.equal([
      ['large-v3', 1],
      [null, 2],
    ]);
    expect(await ledger.audit()).to.deep.equal([]);
  });

  it('applies only the migrations that are missing', async () => {
    const later = [...POSTGRES_MIGRATIONS, 'CREATE TABLE later (n INTEGER)', 'INSERT INTO later VALUES (7)'];
    for (let n = 0; n < 2; n++) await within(place.address, (query) => migratePostgres(query, later));
    expect(await bench.rows('SELECT n FROM later')).to.deep.equal([{ n: 7 }]);
  });
});
