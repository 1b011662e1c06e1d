/** `verbatim database backup` and `restore` through the real command line, beside a server that works on. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../src/ledger/sqlite/driver.js';
import { expect } from 'chai';
import { openLedger } from '../../src/ledger/sqlite/ledger.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { transcribe } from '../support/requests.js';
import { TestServer, type Customer } from '../support/server.js';
import { verbatim as command } from '../support/built.js';

interface Outcome {
  status: number | null;
  stdout: string;
  stderr: string;
}

describe('verbatim database', function () {
  this.timeout(120_000);
  let directory: string;
  let database: string;
  let backup: string;
  let server: TestServer;
  let customer: Customer;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-backup-'));
    backup = join(directory, 'copy.db');
    server = await TestServer.start({ ledgerOptions: { secret: null } });
    database = join(server.directory, 'verbatim.db');
    customer = await server.customer(100);
  });
  afterEach(async () => {
    await server.dispose();
    rmSync(directory, { recursive: true });
  });

  /** Without waiting by standing still: the server in this process goes on. */
  async function verbatim(words: string[], env: Record<string, string> = {}): Promise<Outcome> {
    const child = spawn(process.execPath, command('database', ...words), {
      env: { ...process.env, VERBATIM_DATABASE: database, ...env },
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    await once(child, 'close');
    return { status: child.exitCode, stdout, stderr };
  }
  async function succeeds(...words: string[]): Promise<string> {
    const { status, stdout, stderr } = await verbatim(words);
    expect(status, stderr).to.equal(0);
    return stdout;
  }
  async function fails(message: string | RegExp, words: string[], env: Record<string, string> = {}): Promise<void> {
    const { status, stderr } = await verbatim(words, env);
    expect(status, stderr).to.equal(1);
    expect(stderr).to.match(typeof message === 'string' ? new RegExp(message) : message);
  }
  async function reading<T>(path: string, work: (ledger: Ledger) => Promise<T>): Promise<T> {
    const ledger = openLedger({ path });
    try {
      return await work(ledger);
    } finally {
      await ledger.close();
    }
  }
  /** The server is gone; its database stays. */
  async function stop(): Promise<void> {
    await server.close();
    await server.ledger.close();
  }

  it('backs up while the server works: the ledger as it was at one moment, with the secret of its keys', async () => {
    const load = { running: true, answered: 0 };
    const client = async (): Promise<void> => {
      while (load.running) {
        const { status } = await transcribe(server, { key: customer.managementKey });
        if (status === 200) load.answered += 1;
      }
    };
    const clients = Promise.all([client(), client()]);
    const before = load.answered;
    const text = await succeeds('backup', backup);
    load.running = false;
    await clients;
    expect(text).to.contain(`wrote ${backup} and ${backup}.secret`);
    expect(readdirSync(directory).sort()).to.deep.equal(['copy.db', 'copy.db.secret']);
    for (const file of [backup, `${backup}.secret`]) expect(statSync(file).mode & 0o777).to.equal(0o600);
    await reading(backup, async (ledger) => {
      expect(await ledger.audit()).to.deep.equal([]);
      expect((await ledger.keys.authenticate(customer.key.rawKey))?.account.id).to.equal(customer.account.id);
      const { totalCredits } = await ledger.history.report(customer.account.id, 2);
      expect(totalCredits).to.be.within(before, load.answered);
    });
    expect(load.answered, 'the server has worked meanwhile').to.be.above(0);
  });

  it('overwrites nothing, and leaves nothing of a backup that fails', async () => {
    writeFileSync(backup, 'mine');
    await fails('exists already; a backup overwrites nothing', ['backup', backup]);
    expect(readFileSync(backup, 'utf8')).to.equal('mine');
    rmSync(backup);
    writeFileSync(`${backup}.secret`, 'mine');
    await fails('exists already', ['backup', backup]);
    rmSync(`${backup}.secret`);
    await fails('There is no database at', ['backup', backup], {
      VERBATIM_DATABASE: join(directory, 'no.db'),
    });
    const damaged = new Database(database);
    damaged.pragma('ignore_check_constraints = ON');
    damaged.exec('UPDATE credit_packs SET remaining = remaining + 1');
    await fails('does not balance: purchased = remaining', ['backup', backup]);
    damaged.exec('UPDATE credit_packs SET remaining = remaining - 1');
    damaged.close();
    expect(readdirSync(directory)).to.deep.equal([]);
  });

  it('writes no secret where it is in VERBATIM_SECRET', async () => {
    const backedUp = await verbatim(['backup', backup, '--json'], {
      VERBATIM_SECRET: 'the operator keeps it',
    });
    expect(JSON.parse(backedUp.stdout)).to.include({ file: backup, secret: null });
    expect(readdirSync(directory)).to.deep.equal(['copy.db']);
  });

  it('restores what was backed up, keeps what was there, and releases what was held', async () => {
    await server.ledger.holds.place({
      accountId: customer.account.id,
      keyId: customer.key.id,
      requestId: 'r',
      credits: 9,
    });
    await succeeds('backup', backup);
    await server.ledger.credits.grant({ accountId: customer.account.id, amount: 11 });
    await stop();
    const restored = JSON.parse(await succeeds('restore', backup, '--json')) as Record<string, string>;
    expect(restored).to.have.keys('database', 'before');
    expect(statSync(database).mode & 0o777).to.equal(0o600);
    await reading(restored['before'] ?? '', async (ledger) => {
      expect((await ledger.credits.balance(customer.account.id)).lifetimePurchased).to.equal(111);
      expect(await ledger.keys.authenticate(customer.key.rawKey)).not.to.equal(null);
    });
    const again = await TestServer.start({ directory: server.directory, ledgerOptions: { secret: null } });
    try {
      expect(again.ledger.recovery).to.include({ holds: 1, credits: 9 });
      expect((await transcribe(again, { key: customer.key })).status).to.equal(200);
      expect(await again.balance(customer)).to.equal(99);
      expect(await again.ledger.audit()).to.deep.equal([]);
    } finally {
      await again.close();
      await again.ledger.close();
    }
  });

  it('restores over a database that was emptied or is damaged, or where there is none', async () => {
    await succeeds('backup', backup);
    await stop();
    for (const harm of [
      () => truncateSync(database),
      () => writeFileSync(database, 'no database '.repeat(1000)),
      () => rmSync(database),
      () => rmSync(`${database}.secret`),
    ]) {
      harm();
      const kept = existsSync(database);
      const text = await succeeds('restore', backup);
      expect(text.includes('what was there before')).to.equal(kept);
      const identity = await reading(database, (ledger) => ledger.keys.authenticate(customer.key.rawKey));
      expect(identity, harm.toString()).not.to.equal(null);
    }
  });

  it('refuses while a server runs, or anything else has the database open', async () => {
    await succeeds('backup', backup);
    await fails(/A server \(srv_\S+\) is running on .*; stop it first/, ['restore', backup]);
    expect((await transcribe(server, { key: customer.key })).status).to.equal(200);
    await stop();
    const other = new Database(database);
    other.prepare('SELECT count(*) FROM accounts').get();
    await fails('Another process has .* open; stop it first', ['restore', backup]);
    other.close();
    await succeeds('restore', backup);
  });

  it('refuses what is no sound backup, and changes nothing', async () => {
    const sound = join(directory, 'sound.db');
    await succeeds('backup', sound);
    await stop();
    const before = readdirSync(server.directory).sort();
    const bytes = readFileSync(database);
    const refusals: [RegExp, () => void][] = [
      [/made with another secret/, () => writeFileSync(`${backup}.secret`, `${'0'.repeat(64)}\n`)],
      [/does not balance/, () => tamper('UPDATE credit_packs SET remaining = remaining + 1')],
      [/schema version 99/, () => tamper('PRAGMA user_version = 99')],
      [/not one of Verbatim's/, () => tamper('PRAGMA application_id = 7')],
      [/not a database/, () => writeFileSync(backup, 'no database '.repeat(1000))],
      [/not one of Verbatim's/, () => truncateSync(backup)],
      [/There is no database/, () => rmSync(backup)],
    ];
    const tamper = (sql: string): void => {
      const copy = new Database(backup);
      copy.pragma('ignore_check_constraints = ON');
      copy.exec(sql);
      copy.close();
    };
    rmSync(`${database}.secret`);
    for (const [message, harm] of refusals) {
      for (const suffix of ['', '.secret']) copyFileSync(sound + suffix, backup + suffix);
      harm();
      await fails(message, ['restore', backup]);
    }
    expect(readFileSync(database).equals(bytes)).to.equal(true);
    expect(readdirSync(server.directory).sort()).to.deep.equal(before.filter((name) => !name.endsWith('.secret')));
  });
});
