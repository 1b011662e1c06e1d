/** How long the ledger's calls take, and the same sums without the ledger's own. */
import Database from 'better-sqlite3';
import type { Ledger } from '../../src/ledger/types.js';
import { DAY_MS } from '../../src/ledger/time.js';
import { percentile } from '../reports/statistics.js';
import type { UsageOwner } from './history.js';

/** Microseconds. */
export interface CallTime {
  median: number;
  p99: number;
}

const WARM_UP = 20;
const DAYS = [30, 90] as const;

/** Calls that charge leave so many events. */
export function chargesOf(runs: number): number {
  return runs + WARM_UP;
}

/** Of each call, in turns of its own: a call is not measured while another one's pages push its own out. */
export async function timeCalls(
  ledger: Ledger,
  { accountId, keyId, rawKey }: UsageOwner & { rawKey: string },
  runs: number,
): Promise<Record<string, CallTime>> {
  return {
    'usage, 30 days': await time(() => ledger.usage(accountId, 30), runs),
    'usage, 90 days': await time(() => ledger.usage(accountId, 90), runs),
    balance: await time(() => ledger.balance(accountId), runs),
    authenticate: await time(() => ledger.authenticate(rawKey), runs),
    'hold + settle': await time(() => charge(ledger, accountId, keyId), runs),
  };
}

async function charge(ledger: Ledger, accountId: string, keyId: string): Promise<void> {
  const { id } = await ledger.hold({ accountId, keyId, requestId: 'req_bench', credits: 1 });
  await ledger.settle(id, {
    ...{ credits: 1, endpoint: '/api/v1/transcribe', audioSeconds: 30, minutes: 1, requestId: 'req_bench' },
    ...{ transcriptionId: 'tr_bench', language: 'en', result: {} },
  });
}

/** What the daily sums are compared with: the events themselves, by an index that covers the query and is made for it. */
export async function timeEventSums(
  { path, accountId }: UsageOwner,
  runs: number,
): Promise<Record<string, CallTime>> {
  const database = new Database(path);
  try {
    database.exec(
      'CREATE INDEX bench_cover ON usage_events (account_id, created_at, endpoint, minutes, credits)',
    );
    const query = database.prepare(
      `SELECT created_at / ${DAY_MS} AS day, endpoint, sum(minutes), sum(credits) FROM usage_events
       WHERE account_id = ? AND created_at >= ? GROUP BY 1, 2`,
    );
    const times: Record<string, CallTime> = {};
    for (const days of DAYS)
      times[`${days} days`] = await time(() => query.all(accountId, Date.now() - days * DAY_MS), runs);
    return times;
  } finally {
    database.close();
  }
}

async function time(work: () => unknown, runs: number): Promise<CallTime> {
  const samples: number[] = [];
  for (let run = -WARM_UP; run < runs; run++) {
    const start = performance.now();
    await work();
    if (run >= 0) samples.push((performance.now() - start) * 1000);
  }
  return { median: percentile(samples, 0.5), p99: percentile(samples, 0.99) };
}
