import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'better-sqlite3';
import { openDatabase } from '../../src/ledger/sqlite/database.js';
import { openLedger } from '../../src/ledger/sqlite/ledger.js';
import { migrate } from '../../src/ledger/sqlite/migrate.js';
import { MIGRATIONS } from '../../src/ledger/sqlite/migrations/index.js';
import { Bench, codeOf, customer, hold, refusal, settlement } from './support.js';

describe('ledger: database', () => {
  let bench: Bench;

  beforeEach(() => {
    bench = new Bench();
  });
  afterEach(() => bench.dispose());

  it('makes the directory and a file in WAL mode, with strict tables', () => {
    const path = join(bench.directory, 'a', 'b', 'verbatim.db');
    const database = openDatabase(path);
    expect(database.pragma('journal_mode', { simple: true })).to.equal('wal');
    expect(database.pragma('synchronous', { simple: true })).to.equal(2);
    expect(database.pragma('foreign_keys', { simple: true })).to.equal(1);
    const lax = database
      .prepare(`SELECT name FROM pragma_table_list WHERE strict = 0 AND name NOT LIKE 'sqlite_%'`)
      .all();
    expect(lax).to.deep.equal([]);
    database.close();
    expect(statSync(join(bench.directory, 'a')).mode & 0o777).to.equal(0o700);
  });

  it('keeps what an earlier run wrote', async () => {
    const first = bench.server();
    const ann = await customer(first, 'ann@example.com', 7);
    await first.close();
    expect((await bench.server().balance(ann.account.id)).balance).to.equal(7);
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
    const ledger = bench.server();
    const ann = await customer(ledger, 'ann@example.com', 5);
    await ledger.settle(await hold(ledger, ann, 2), settlement(2));
    bench.raw((database) => {
      for (const sql of [
        'UPDATE usage_events SET minutes = 0',
        'DELETE FROM usage_events',
        `INSERT OR REPLACE INTO usage_events SELECT hold_id, account_id, key_id, request_id, endpoint, audio_ms,
           0, 0, created_at FROM usage_events`,
      ]) {
        expect(() => database.exec(sql), sql).to.throw('usage_events is append-only');
      }
      expect(() => database.exec('UPDATE holds SET credits = 0')).to.throw('a settled hold is final');
      expect(() => database.exec('DELETE FROM holds')).to.throw('a settled hold is final');
    });
    expect(await ledger.audit()).to.deep.equal([]);
  });

  it('makes a first account with its credits and keys, or nothing of it', async () => {
    const ledger = bench.server();
    const first = { email: 'ann@example.com', name: 'Ann', credits: 5 };
    const unknown = {
      ...first,
      keys: [
        { name: 'plain', scopes: [] },
        { name: 'other', scopes: ['nonsense'] },
      ],
    };
    expect(await codeOf(() => ledger.createFirstAccount(unknown))).to.equal('invalid_request');
    expect(await ledger.listAccounts()).to.deep.equal([]);
    const keys = await ledger.createFirstAccount({ ...first, keys: [{ name: 'plain', scopes: [] }] });
    const identity = await ledger.authenticate(keys?.[0]?.rawKey ?? '');
    expect(identity?.account).to.include({ email: 'ann@example.com', name: 'Ann' });
    expect(await ledger.balance(identity?.account.id ?? '')).to.include({ balance: 5 });
    expect(await ledger.createFirstAccount({ ...first, email: 'bob@example.com', keys: [] })).to.equal(null);
  });

  it('says whether it can write', async () => {
    const ledger = bench.server();
    await ledger.checkWritable();
    const written = bench.raw((database) =>
      database.prepare(`SELECT value FROM settings WHERE name = 'written_at'`).pluck().get(),
    );
    expect(written).to.equal(bench.now);
    const other = bench.cli();
    await other.close();
    expect((await refusal(() => other.checkWritable())).message).to.contain('not open');
  });

  it('closes twice without complaint, and leaves no lock file', async () => {
    const ledger = bench.server();
    await ledger.close();
    await ledger.close();
    expect(existsSync(`${bench.path}-wal`)).to.equal(false);
  });
});
