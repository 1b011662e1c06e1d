/**
 * kill -9 at random moments under load: `npm run test:kill`. KILLS sets how many (200), ENGINE=real puts the whole
 * service with its model under the axe instead of the quick engine.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from '../../src/ledger/sqlite/driver.js';
import { expect } from 'chai';
import { openLedger } from '../../src/ledger/sqlite/ledger.js';
import { fakeAudio } from '../support/fake-engine.js';
import { Load, type Task, type Payload } from './kill-nine/load.js';
import { Victim } from './kill-nine/victim.js';

const KILLS = Number(process.env['KILLS'] ?? 200);
const REAL = process.env['ENGINE'] === 'real';
const ACCOUNTS = 3;
const CREDITS = 1_000_000;
const CLIENTS = 16;
const SECRET = 'a secret for the axe';

describe(`kill -9 at ${KILLS} random moments`, () => {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-kill-'));
  const database = join(directory, 'verbatim.db');
  const uploads = join(directory, 'uploads');
  const tally = { openHolds: 0, killsWithOpenHolds: 0 };

  before(() => mkdirSync(uploads));
  after(() => rmSync(directory, { recursive: true, force: true }));

  it('charges each request once or not at all, and every 200 has its usage row', async () => {
    const load = new Load(await openAccounts(database), payloads());
    for (let kill = 0; kill < KILLS; kill += 1) {
      const victim = await Victim.start({ database, secret: SECRET, uploads, real: REAL });
      expect(count(database, 'holds WHERE settled_at IS NULL'), 'holds left after a restart').to.equal(0);
      expect(count(database, 'idempotency_records WHERE hold_id IS NULL'), 'records left').to.equal(0);
      await checkLedger(database, load.jobs);
      await strike(victim, load);
      const open = count(database, 'holds WHERE settled_at IS NULL');
      tally.openHolds += open;
      tally.killsWithOpenHolds += open > 0 ? 1 : 0;
    }
    const last = await Victim.start({ database, secret: SECRET, uploads, real: REAL });
    try {
      await load.finish(last.url);
    } finally {
      await last.kill();
    }
    await summarize(load);
  });

  /** Lets the clients work, and kills the server at a moment of its own choosing. */
  async function strike(victim: Victim, load: Load): Promise<void> {
    const clients = load.run(victim.url, CLIENTS);
    await sleep(Math.random() * (REAL ? 6000 : 1000));
    await victim.kill();
    load.stop();
    await clients;
  }

  async function summarize(load: Load): Promise<void> {
    const charges = await checkLedger(database, load.jobs);
    const repeatable = load.jobs.filter((job) => job.idempotencyKey !== null);
    expect(repeatable.every((job) => job.answer !== null)).to.equal(true);
    const replayed = load.jobs.filter((job) => job.replayed).length;
    const untold = load.jobs.filter((job) => job.answer === null && charged(job, charges) > 0).length;
    const lines = [
      `${KILLS} kills, ${tally.killsWithOpenHolds} of them with credits held (${tally.openHolds} holds)`,
      `${load.answered} answers, ${charges.size} charges`,
      `${replayed} replayed that were charged before a kill and not answered`,
      `${untold} more charged and not answered, without an Idempotency-Key`,
    ];
    process.stdout.write(lines.map((line) => `      ${line}\n`).join(''));
    expect(tally.killsWithOpenHolds, 'the load was too light to prove anything').to.be.above(KILLS / 10);
  }
});

/** Three accounts with a key each. */
async function openAccounts(path: string): Promise<string[]> {
  const ledger = openLedger({ path, secret: SECRET });
  const keys: string[] = [];
  for (let n = 0; n < ACCOUNTS; n += 1) {
    const { id: accountId } = await ledger.accounts.create({ email: `account-${n}@example.com` });
    await ledger.credits.grant({ accountId, amount: CREDITS });
    keys.push((await ledger.keys.create({ accountId, name: 'client', scopes: [] })).rawKey);
  }
  await ledger.close();
  return keys;
}

function payloads(): Payload[] {
  if (!REAL)
    return [30, 61, 150].map((seconds) => ({
      audio: fakeAudio(seconds),
      credits: Math.ceil(seconds / 60),
    }));
  return [{ audio: readFileSync(join(__dirname, '../fixtures/audio/samples/en-wav16.wav')), credits: 1 }];
}

/** Audits, compares every job with its usage rows, and returns request id -> credits charged. */
async function checkLedger(path: string, jobs: readonly Task[]): Promise<Map<string, number>> {
  const ledger = openLedger({ path, secret: SECRET });
  expect(await ledger.audit()).to.deep.equal([]);
  let left = 0;
  for (const { id } of await ledger.accounts.list()) left += (await ledger.credits.balance(id)).balance;
  await ledger.close();
  const charges = chargesOf(path);
  for (const job of jobs) {
    const times = job.attempts.filter((requestId) => charges.has(requestId)).length;
    expect(times, `charges of ${job.attempts.join(', ')}`).to.be.at.most(1);
    if (job.answer !== null) expect(times, `an answered request without its charge`).to.equal(1);
    if (times === 1) expect(charged(job, charges)).to.equal(job.payload.credits);
  }
  const spent = [...charges.values()].reduce((sum, credits) => sum + credits, 0);
  expect(left).to.equal(ACCOUNTS * CREDITS - spent);
  return charges;
}

function charged(job: Task, charges: ReadonlyMap<string, number>): number {
  return job.attempts.reduce((sum, requestId) => sum + (charges.get(requestId) ?? 0), 0);
}

function chargesOf(path: string): Map<string, number> {
  const rows = query<{ request_id: string; credits: number }>(path, 'SELECT request_id, credits FROM usage_events');
  const charges = new Map(rows.map((row) => [row.request_id, row.credits]));
  expect(charges.size, 'usage rows with the same request id').to.equal(rows.length);
  return charges;
}

function count(path: string, what: string): number {
  return query<{ n: number }>(path, `SELECT count(*) AS n FROM ${what}`)[0]?.n ?? NaN;
}

function query<Row>(path: string, sql: string): Row[] {
  const database = new Database(path, { fileMustExist: true, timeout: 5000 });
  try {
    return database.prepare<[], Row>(sql).all();
  } finally {
    database.close();
  }
}
