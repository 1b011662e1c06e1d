import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { integerFrom } from '../../src/cli/options.js';
import { createLedger } from '../../src/ledger/sqlite/ledger.js';
import type { Ledger } from '../../src/ledger/types.js';
import { DAY_MS } from '../../src/ledger/time.js';
import { addHistory, endOfToday, type UsageOwner } from '../load/history.js';
import { chargesOf, timeCalls, timeEventSums, type CallTime } from '../load/ledger-calls.js';
import { rounded, type Shown, type Table } from '../reports/report.js';
import { sum } from '../reports/statistics.js';
import { addOutputOptions, benchContext, progress, publish, type OutputOptions } from './setup.js';

interface Options extends OutputOptions {
  events: number;
  directory: string;
  runs: number;
}

interface Books extends UsageOwner {
  ledger: Ledger;
  rawKey: string;
  events: number;
}

interface Found {
  sizes: { events: number; calls: Record<string, CallTime> }[];
  eventSums: Record<string, CallTime>;
  audit: { events: number; violations: number; seconds: number; databaseBytes: number };
}

const SMALLEST = 1_000;
const EVENTS_PER_DAY = 3_333;
const CREDITS = 1_000_000_000;
/** The slowest queries need no more. */
const EVENT_SUM_RUNS = 20;

export function addBenchUsage(bench: Command): void {
  const command = bench
    .command('usage')
    .description(
      "how long the ledger's calls take as one account's history grows, some 400 bytes of disk an event",
    )
    .option(
      '--events <n>',
      'where the history ends; it grows tenfold a step',
      integerFrom(SMALLEST),
      10_000_000,
    )
    .option('--runs <n>', 'of each call at each size', integerFrom(1), 300)
    .option('--directory <dir>', 'where the database lies meanwhile', tmpdir());
  addOutputOptions(command).action(benchUsage);
}

async function benchUsage(options: Options): Promise<void> {
  const { environment } = benchContext();
  const { events, runs } = options;
  const found = await measure(options);
  publish(
    {
      name: 'usage',
      title: "The ledger's calls as the history grows",
      environment,
      models: [],
      settings: { events, 'events a day': EVENTS_PER_DAY },
      warmUp: 'each call, 20 times',
      runs,
      tables: tablesOf(found),
      charts: [],
      notes: [
        'Microseconds: median, and in brackets the 99th percentile. The history grows backwards from today, so that every size has the same window.',
        'An answer of /usage comes from daily sums; beside it the same from the events by a covering index.',
      ],
      measurements: found,
    },
    options,
  );
}

async function measure({ events, directory: parent, runs }: Options): Promise<Found> {
  const directory = mkdtempSync(join(parent, 'verbatim-bench-'));
  const books = await open(join(directory, 'verbatim.db'));
  try {
    const sizes: Found['sizes'] = [];
    for (let size = SMALLEST; size <= events; size *= 10) {
      progress(`${size} events`);
      grow(books, size);
      sizes.push({ events: size, calls: await timeCalls(books.ledger, books, runs) });
      books.events += chargesOf(runs);
    }
    const eventSums = await timeEventSums(books, Math.min(runs, EVENT_SUM_RUNS));
    return { sizes, eventSums, audit: await audit(books) };
  } finally {
    await books.ledger.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function open(path: string): Promise<Books> {
  const ledger = createLedger({ path });
  const { id: accountId } = await ledger.createAccount({ email: 'busy@example.com' });
  await ledger.grantCredits({ accountId, amount: CREDITS });
  const { id: keyId, rawKey } = await ledger.createKey({ accountId, name: 'bench', scopes: [] });
  return { path, ledger, accountId, keyId, rawKey, events: 0 };
}

function grow(books: Books, size: number): void {
  const rows = Math.max(0, size - books.events);
  const newest = endOfToday() - (books.events / EVENTS_PER_DAY) * DAY_MS;
  addHistory(books, { rows, rowsPerDay: EVENTS_PER_DAY, newest });
  books.events += rows;
}

async function audit({ ledger, events, path }: Books): Promise<Found['audit']> {
  const start = performance.now();
  const violations = await ledger.audit();
  const seconds = (performance.now() - start) / 1000;
  const databaseBytes = sum(['', '-wal'].map((part) => statSync(path + part).size));
  return { events, violations: violations.length, seconds, databaseBytes };
}

function tablesOf({ sizes, eventSums, audit: { databaseBytes, ...audited } }: Found): Table[] {
  const rows = sizes.map(({ events, calls }) => ({ events, ...shown(calls) }));
  const size = { 'database GB, with the index': rounded(databaseBytes / 1e9) };
  return [
    { title: 'Calls', rows },
    { title: 'Usage from the events', rows: [{ events: audited.events, ...shown(eventSums) }] },
    { title: 'Audit', rows: [{ ...audited, seconds: rounded(audited.seconds), ...size }] },
  ];
}

function shown(times: Readonly<Record<string, CallTime>>): Record<string, Shown> {
  return Object.fromEntries(
    Object.entries(times).map(([call, { median, p99 }]) => [
      call,
      `${median.toFixed(0)} (${p99.toFixed(0)})`,
    ]),
  );
}
