/**
 * How long the ledger's calls take as one account's history grows to ten million usage events.
 *
 *     npx tsx bench/usage-query.ts [--events 10000000] [--directory DIR]
 *
 * Needs about 400 bytes of disk an event. The history grows backwards from today at a fixed rate, so that every size has the same
 * window and only what lies before it grows. Prints a Markdown report.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { createLedger } from '../src/ledger/sqlite/ledger.js';
import type { Ledger } from '../src/ledger/types.js';

const EVENTS_PER_DAY = 3_333;
const DAY_MS = 86_400_000;
const BATCH = 500_000;
const RUNS = 300;
const SIZES = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];

interface Books {
  path: string;
  ledger: Ledger;
  accountId: string;
  keyId: string;
  rawKey: string;
  events: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      events: { type: 'string', default: '10000000' },
      directory: { type: 'string', default: tmpdir() },
    },
  });
  const directory = mkdtempSync(join(values.directory, 'verbatim-bench-'));
  const books = await open(join(directory, 'verbatim.db'));
  try {
    await report(
      books,
      SIZES.filter((size) => size <= Number(values.events)),
    );
  } finally {
    await books.ledger.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function open(path: string): Promise<Books> {
  const ledger = createLedger({ path });
  const { id: accountId } = await ledger.createAccount({ email: 'busy@example.com' });
  await ledger.grantCredits({ accountId, amount: 1_000_000_000 });
  const { id: keyId, rawKey } = await ledger.createKey({ accountId, name: 'bench', scopes: [] });
  return { path, ledger, accountId, keyId, rawKey, events: 0 };
}

async function report(books: Books, sizes: number[]): Promise<void> {
  console.log(`Machine: ${machine()}. Median (99th percentile) of ${RUNS} runs, in microseconds.\n`);
  console.log('| events | usage, 30 days | usage, 90 days | balance | authenticate | hold + settle |');
  console.log('|---:|---:|---:|---:|---:|---:|');
  const { ledger, accountId, keyId, rawKey } = books;
  for (const size of sizes) {
    grow(books, size);
    const cells = [
      await time(() => ledger.usage(accountId, 30)),
      await time(() => ledger.usage(accountId, 90)),
      await time(() => ledger.balance(accountId)),
      await time(() => ledger.authenticate(rawKey)),
      await time(() => charge(ledger, accountId, keyId)),
    ];
    books.events += RUNS + WARM_UP;
    console.log(`| ${size.toLocaleString('en')} | ${cells.map(show).join(' | ')} |`);
  }
  await alternative(books);
  const started = performance.now();
  const violations = await ledger.audit();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const gigabytes = (statSync(books.path).size / 1e9).toFixed(2);
  console.log(
    `\nAudit of ${books.events.toLocaleString('en')} events: ${violations.length} violations, ${seconds} s.`,
  );
  console.log(`Database: ${gigabytes} GB with the alternative's index.`);
}

/** What the daily sums are compared with: the events themselves, by an index that covers the query. */
async function alternative({ path, accountId }: Books): Promise<void> {
  const database = new Database(path);
  database.exec(
    'CREATE INDEX bench_cover ON usage_events (account_id, created_at, endpoint, minutes, credits)',
  );
  const query = database.prepare(
    `SELECT created_at / ${DAY_MS} AS day, endpoint, sum(minutes), sum(credits) FROM usage_events
     WHERE account_id = ? AND created_at >= ? GROUP BY 1, 2`,
  );
  const cells = [];
  for (const days of [30, 90]) {
    cells.push(await time(() => query.all(accountId, Date.now() - days * DAY_MS), 20));
  }
  database.close();
  console.log(
    `\nThe same from the events by a covering index: ${cells.map(show).join(' for 30 days, ')} for 90.`,
  );
}

async function charge(ledger: Ledger, accountId: string, keyId: string): Promise<void> {
  const { id } = await ledger.hold({ accountId, keyId, requestId: 'req_bench', credits: 1 });
  await ledger.settle(id, {
    ...{ credits: 1, endpoint: '/api/v1/transcribe', audioSeconds: 30, minutes: 1, requestId: 'req_bench' },
    result: {},
  });
}

/** Adds older events, with everything that belongs to them, until there are `size`. */
function grow(books: Books, size: number): void {
  const database = new Database(books.path);
  database.pragma('synchronous = OFF');
  const midnight = (Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS;
  const next = database.prepare<[], number>('SELECT coalesce(max(id), 0) + 1 FROM holds').pluck();
  while (books.events < size) {
    const count = Math.min(BATCH, size - books.events);
    const first = next.get() ?? 1;
    addEvents(database, books, {
      first,
      count,
      newest: midnight - 1 - (books.events / EVENTS_PER_DAY) * DAY_MS,
    });
    books.events += count;
  }
  database.close();
}

function addEvents(
  database: Database.Database,
  { accountId, keyId }: Books,
  { first, count, newest }: { first: number; count: number; newest: number },
): void {
  const input = { accountId, keyId, first, last: first + count - 1, newest: Math.floor(newest) };
  const ids = 'WITH RECURSIVE n (id) AS (SELECT @first UNION ALL SELECT id + 1 FROM n WHERE id < @last)';
  const age = `CAST((n.id - @first) * ${DAY_MS / EVENTS_PER_DAY} AS INTEGER)`;
  const statements = [
    `INSERT INTO holds (id, account_id, key_id, request_id, credits, created_at, settled_at)
     ${ids} SELECT n.id, @accountId, @keyId, format('req_%016x', n.id), 1, @newest - ${age}, @newest - ${age} FROM n`,
    `INSERT INTO hold_parts (hold_id, pack_id, credits) ${ids} SELECT n.id, 1, 1 FROM n`,
    `INSERT INTO usage_events
       (hold_id, account_id, key_id, request_id, endpoint, audio_ms, minutes, credits, created_at)
     SELECT id, account_id, key_id, request_id, iif(id % 10, '/api/v1/transcribe', '/api/v1/translate'),
       30000, 1, credits, settled_at FROM holds WHERE id BETWEEN @first AND @last`,
    `INSERT INTO usage_days (account_id, day, endpoint, requests, minutes, credits)
     SELECT account_id, created_at / ${DAY_MS}, endpoint, count(*), sum(minutes), sum(credits)
     FROM usage_events WHERE hold_id BETWEEN @first AND @last GROUP BY 1, 2, 3
     ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
       minutes = minutes + excluded.minutes, credits = credits + excluded.credits`,
    'UPDATE credit_packs SET spent = spent + 1 + @last - @first, remaining = remaining - 1 - @last + @first',
  ];
  const add = database.transaction(() => statements.forEach((sql) => database.prepare(sql).run(input)));
  add.immediate();
}

const WARM_UP = 20;

async function time(work: () => unknown, runs = RUNS): Promise<{ median: number; p99: number }> {
  const samples: number[] = [];
  for (let n = 0; n < WARM_UP + runs; n += 1) {
    const started = performance.now();
    await work();
    if (n >= WARM_UP) samples.push((performance.now() - started) * 1000);
  }
  samples.sort((a, b) => a - b);
  const at = (share: number): number => samples[Math.min(runs - 1, Math.floor(runs * share))] ?? NaN;
  return { median: at(0.5), p99: at(0.99) };
}

function show({ median, p99 }: { median: number; p99: number }): string {
  return `${median.toFixed(0)} (${p99.toFixed(0)})`;
}

function machine(): string {
  const [cpu] = cpus();
  const sqlite = new Database(':memory:').prepare('SELECT sqlite_version()').pluck().get();
  return (
    `${cpus().length} x ${cpu?.model ?? 'unknown CPU'}, load ${loadavg()[0]?.toFixed(1) ?? '?'}, ` +
    `Node ${process.version}, SQLite ${String(sqlite)}`
  );
}

void main();
