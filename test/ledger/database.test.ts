import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Database } from '../../src/ledger/sqlite/driver.js';
import { openDatabase } from '../../src/ledger/sqlite/database.js';
import { openLedger } from '../../src/ledger/sqlite/ledger.js';
import { migrate } from '../../src/ledger/sqlite/migrate.js';
import { MIGRATIONS } from '../../src/ledger/sqlite/migrations/index.js';
import { FileBench, codeOf, customer, hold, refusal, settlement } from './support.js';

describe('ledger: database', () => {
  let bench: FileBench;

  beforeEach(() => {
    bench = new FileBench();
  });
  afterEach(() => bench.dispose());

  it('makes the directory and a file in WAL mode, with strict tables', () => {
    const path = join(bench.directory, 'a', 'b', 'verbatim.db');
    const database = openDatabase(path);
    expect(database.pragma('journal_mode', { simple: true })).to.equal('wal');
    expect(database.pragma('synchronous', { simple: true })).to.equal(2);
    expect(database.pragma('foreign_keys', { simple: true })).to.equal(1);
    const lax = database
      .prepare(`SELECT name FROM pragma_table_list WHERE type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'`)
      .all();
    expect(lax).to.deep.equal([]);
    database.close();
    expect(statSync(join(bench.directory, 'a')).mode & 0o777).to.equal(0o700);
  });

  it('keeps what an earlier run wrote', async () => {
    const first = await bench.server();
    const ann = await customer(first, 'ann@example.com', 7);
    await first.close();
    expect((await (await bench.server()).credits.balance(ann.account.id)).balance).to.equal(7);
  });

  it('applies only the migrations that are missing, in order', () => {
    openDatabase(bench.path).close();
    bench.raw((database) => {
      const later = ['CREATE TABLE later (n INTEGER) STRICT', 'INSERT INTO later VALUES (7)'];
      migrate(database, [...MIGRATIONS, ...later]);
      migrate(database, [...MIGRATIONS, ...later]);
      expect(database.prepare('SELECT n FROM later').pluck().all()).to.deep.equal([7]);
      expect(database.pragma('user_version', { simple: true })).to.equal(MIGRATIONS.length + 2);
    });
  });

  it('keeps holds, whoever has them, and never uses an id of theirs again', async () => {
    const path = bench.path;
    new Database(path).close();
    bench.raw((old) => {
      old.pragma('foreign_keys = ON');
      migrate(old, MIGRATIONS.slice(0, 3));
      old.exec(`
        INSERT INTO accounts VALUES ('acc', 'ann@example.com', NULL, 0);
        INSERT INTO api_keys VALUES ('key', 'acc', 'k', 'vb_01234567', zeroblob(32), '[]', 0, NULL, NULL);
        INSERT INTO credit_packs (id, account_id, purchased, remaining, held, spent, created_at) VALUES (1, 'acc', 10, 6, 3, 1, 0);
        INSERT INTO instances VALUES ('srv_dead', 1, 0);
        INSERT INTO holds VALUES (7, 'acc', 'key', 'req', 1, NULL, 0, 1), (8, 'acc', 'key', 'req', 3, 'srv_dead', 0, NULL);
        INSERT INTO hold_parts VALUES (7, 1, 1), (8, 1, 3);
        INSERT INTO usage_events VALUES (7, 'acc', 'key', 'req', '/api/v1/transcribe', 3000, 1, 1, 1);
        INSERT INTO usage_days VALUES ('acc', 0, '/api/v1/transcribe', 1, 1, 1);
        INSERT INTO idempotency_records (token, account_id, key, fingerprint, hold_id, result, credits_remaining, created_at, expires_at)
        VALUES ('t', 'acc', 'k', 'f', 7, '{"n":1}', 9, 1, 1e15);
        INSERT INTO holds VALUES (41, 'acc', 'key', 'req', 0, 'srv_dead', 0, NULL);
        DELETE FROM holds WHERE id = 41;`);
      migrate(old);
      expect(old.pragma('foreign_keys', { simple: true })).to.equal(1);
      expect(() => old.exec('DELETE FROM holds WHERE id = 7')).to.throw('a settled hold is final');
      expect(old.prepare('SELECT id, instance_id FROM holds ORDER BY id').all()).to.deep.equal([
        { id: 7, instance_id: null },
        { id: 8, instance_id: 'srv_dead' },
      ]);
    });
    const ledger = await bench.server();
    expect(ledger.recovery).to.include({ holds: 1, credits: 3 });
    expect(await ledger.audit()).to.deep.equal([]);
    expect(await ledger.idempotency.begin({ accountId: 'acc', key: 'k', fingerprint: 'f' })).to.deep.include({
      answer: { kind: 'result', result: { n: 1 }, charge: { creditsUsed: 1, creditsRemaining: 9 } },
    });
    const { id } = await ledger.holds.place({ accountId: 'acc', keyId: 'key', requestId: 'req', credits: 1 });
    expect(Number(id)).to.be.above(41);
    await ledger.close();
  });

  it('is not migrated where a row refers to none', () => {
    new Database(bench.path).close();
    bench.raw((old) => {
      migrate(old, MIGRATIONS.slice(0, 3));
      old.pragma('foreign_keys = OFF');
      old.exec("INSERT INTO credit_packs (account_id, purchased, remaining, created_at) VALUES ('nobody', 1, 1, 0)");
      expect(() => migrate(old)).to.throw('a row of credit_packs refers to none of accounts');
      expect(old.pragma('user_version', { simple: true })).to.equal(3);
    });
  });

  it('leaves the database as it was when a migration fails', () => {
    openDatabase(bench.path).close();
    bench.raw((database) => {
      const broken = [...MIGRATIONS, 'CREATE TABLE later (n INTEGER) STRICT; INSERT INTO nowhere VALUES (1)'];
      expect(() => migrate(database, broken)).to.throw('no such table: nowhere');
      expect(database.pragma('user_version', { simple: true })).to.equal(MIGRATIONS.length);
      expect(database.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'later'`).all()).to.deep.equal([]);
    });
  });

  it('refuses a database that a newer version wrote, naming both versions', () => {
    openDatabase(bench.path).close();
    bench.raw((database) => database.pragma('user_version = 99'));
    expect(() => openLedger({ path: bench.path })).to.throw(
      `has schema version 99; this version of Verbatim knows up to ${MIGRATIONS.length}`,
    );
  });

  it("refuses another program's database and leaves it alone", () => {
    bench.raw((database) => database.exec('CREATE TABLE theirs (n INTEGER)'));
    expect(() => openLedger({ path: bench.path })).to.throw("not one of Verbatim's");
    const tables = bench.raw((database) => database.prepare('SELECT name FROM sqlite_schema').pluck().all());
    expect(tables).to.deep.equal(['theirs']);
  });

  it('refuses a file that is no database', () => {
    writeFileSync(bench.path, 'These are notes, and more than a page of them. '.repeat(200));
    expect(() => openLedger({ path: bench.path })).to.throw(Database.SqliteError, 'file is not a database');
  });

  it('lets nobody change, delete or replace a usage row, or reopen a settled hold', async () => {
    const ledger = await bench.server();
    const ann = await customer(ledger, 'ann@example.com', 5);
    await ledger.holds.settle(await hold(ledger, ann, 2), settlement(2));
    bench.raw((database) => {
      for (const sql of [
        'UPDATE usage_events SET minutes = 0',
        `UPDATE usage_events SET model = 'another'`,
        'DELETE FROM usage_events',
        `INSERT OR REPLACE INTO usage_events SELECT hold_id, account_id, key_id, request_id, endpoint, audio_ms,
           0, 0, created_at, transcription_id, language, model FROM usage_events`,
      ]) {
        expect(() => database.exec(sql), sql).to.throw('usage_events is append-only');
      }
      expect(() => database.exec('UPDATE holds SET credits = 0')).to.throw('a settled hold is final');
      expect(() => database.exec('DELETE FROM holds')).to.throw('a settled hold is final');
    });
    expect(await ledger.audit()).to.deep.equal([]);
  });

  it('makes a first account with its credits and keys, or nothing of it', async () => {
    const ledger = await bench.server();
    const first = { email: 'ann@example.com', name: 'Ann', role: 'operator', credits: 5 } as const;
    const unknown = {
      ...first,
      keys: [
        { name: 'plain', scopes: [] },
        { name: 'other', scopes: ['nonsense'] },
      ],
    };
    expect(await codeOf(() => ledger.accounts.createFirst(unknown))).to.equal('invalid_request');
    expect(await ledger.accounts.list()).to.deep.equal([]);
    const keys = await ledger.accounts.createFirst({ ...first, keys: [{ name: 'plain', scopes: [] }] });
    const identity = await ledger.keys.authenticate(keys?.[0]?.rawKey ?? '');
    expect(identity?.account).to.include({ email: 'ann@example.com', name: 'Ann', role: 'operator' });
    expect(await ledger.credits.balance(identity?.account.id ?? '')).to.include({ balance: 5 });
    expect(await ledger.accounts.createFirst({ ...first, email: 'bob@example.com', keys: [] })).to.equal(null);
  });

  it('says whether it can write', async () => {
    const ledger = await bench.server();
    await ledger.checkWritable();
    const written = bench.raw((database) =>
      database.prepare(`SELECT value FROM settings WHERE name = 'written_at'`).pluck().get(),
    );
    expect(written).to.equal(bench.now);
    const other = await bench.cli();
    await other.close();
    expect((await refusal(() => other.checkWritable())).message).to.contain('not open');
  });

  it('closes twice without complaint, and leaves no lock file', async () => {
    const ledger = await bench.server();
    await ledger.close();
    await ledger.close();
    expect(existsSync(`${bench.path}-wal`)).to.equal(false);
  });
});
