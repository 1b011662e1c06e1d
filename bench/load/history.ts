/** Usage that an account did not have: rows as settled requests leave them, so that the audit holds. */
import Database from 'better-sqlite3';
import { DAY_MS } from '../../src/ledger/time.js';

export interface UsageOwner {
  /** Of the database. */
  path: string;
  accountId: string;
  /** One pack pays for all of it. */
  keyId: string;
}

export interface History {
  rows: number;
  /** Of one day, evenly spread over it. */
  rowsPerDay: number;
  /** Of the newest row, milliseconds since 1970; the others lie before it. */
  newest: number;
}

const BATCH = 500_000;

/** As much as can be in a day, by the end of which nothing is newer. */
export function endOfToday(now = Date.now()): number {
  return (Math.floor(now / DAY_MS) + 1) * DAY_MS - 1;
}

/** A credit a row, out of the account's first pack. */
export function addHistory(owner: UsageOwner, { rows, rowsPerDay, newest }: History): void {
  const database = new Database(owner.path);
  try {
    // What a power cut would lose is made again.
    database.pragma('synchronous = OFF');
    for (let done = 0; done < rows; done += BATCH) {
      const batch = { rows: Math.min(BATCH, rows - done), rowsPerDay };
      addBatch(database, owner, { ...batch, newest: Math.floor(newest - (done / rowsPerDay) * DAY_MS) });
    }
  } finally {
    database.close();
  }
}

function addBatch(
  database: Database.Database,
  { accountId, keyId }: UsageOwner,
  { rows, rowsPerDay, newest }: History,
): void {
  const first = database.prepare<[], number>('SELECT coalesce(max(id), 0) + 1 FROM holds').pluck().get() ?? 1;
  const pack = database
    .prepare<[string], number>('SELECT min(id) FROM credit_packs WHERE account_id = ?')
    .pluck()
    .get(accountId);
  const input = { accountId, keyId, pack, first, last: first + rows - 1, newest };
  const ids = 'WITH RECURSIVE n (id) AS (SELECT @first UNION ALL SELECT id + 1 FROM n WHERE id < @last)';
  const age = `CAST((n.id - @first) * ${DAY_MS / rowsPerDay} AS INTEGER)`;
  const statements = [
    `INSERT INTO holds (id, account_id, key_id, request_id, credits, created_at, settled_at)
     ${ids} SELECT n.id, @accountId, @keyId, format('req_%016x', n.id), 1, @newest - ${age}, @newest - ${age} FROM n`,
    `INSERT INTO hold_parts (hold_id, pack_id, credits) ${ids} SELECT n.id, @pack, 1 FROM n`,
    `INSERT INTO usage_events
       (hold_id, account_id, key_id, request_id, endpoint, audio_ms, minutes, credits, created_at)
     SELECT id, account_id, key_id, request_id, iif(id % 10, '/api/v1/transcribe', '/api/v1/translate'),
       30000, 1, credits, settled_at FROM holds WHERE id BETWEEN @first AND @last`,
    `INSERT INTO usage_days (account_id, day, endpoint, requests, minutes, credits)
     SELECT account_id, created_at / ${DAY_MS}, endpoint, count(*), sum(minutes), sum(credits)
     FROM usage_events WHERE hold_id BETWEEN @first AND @last GROUP BY 1, 2, 3
     ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
       minutes = minutes + excluded.minutes, credits = credits + excluded.credits`,
    `UPDATE credit_packs SET spent = spent + 1 + @last - @first, remaining = remaining - 1 - @last + @first
     WHERE id = @pack`,
  ];
  const add = database.transaction(() => {
    for (const sql of statements) {
      const statement = database.prepare(sql);
      statement.run(input);
    }
  });
  add.immediate();
}
