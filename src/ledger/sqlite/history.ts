import type Database from 'better-sqlite3';
import type { AccountHistory, HistoryEntry, RunningRequest, UsageDay } from '../history.js';
import { dateOfDay, toIso, utcDay, type WallClock } from '../time.js';
import type { Transactions } from './transactions.js';
import { checkWindow } from './usage.js';

interface EventRow {
  hold_id: number;
  request_id: string;
  transcription_id: string | null;
  endpoint: string;
  audio_ms: number;
  language: string | null;
  credits: number;
  created_at: number;
}

interface DayRow extends Omit<UsageDay, 'date'> {
  day: number;
}

export class SqliteHistory implements AccountHistory {
  readonly #days;
  readonly #charged;
  readonly #running;

  constructor(
    database: Database.Database,
    private readonly clock: WallClock,
    private readonly transactions: Transactions,
  ) {
    this.#days = database.prepare<[string, number], DayRow>(
      `SELECT day, endpoint, requests, minutes, credits FROM usage_days WHERE account_id = ? AND day >= ?
       ORDER BY day, endpoint`,
    );
    this.#charged = database.prepare<[string, number, number], EventRow>(
      `SELECT hold_id, request_id, transcription_id, endpoint, audio_ms, language, credits, created_at
       FROM usage_events WHERE account_id = ? AND hold_id < ? ORDER BY hold_id DESC LIMIT ?`,
    );
    this.#running = database.prepare<
      [string, number],
      { request_id: string; credits: number; created_at: number }
    >(
      `SELECT request_id, credits, created_at FROM holds WHERE account_id = ? AND settled_at IS NULL
       ORDER BY id DESC LIMIT ?`,
    );
  }

  usageByDay(accountId: string, days: number): Promise<UsageDay[]> {
    return this.transactions.read(() => {
      checkWindow(days);
      const rows = this.#days.all(accountId, utcDay(this.clock()) - days + 1);
      return rows.map(({ day, ...row }) => ({ date: dateOfDay(day), ...row }));
    });
  }

  charged(
    accountId: string,
    { limit, before }: { limit: number; before: string | null },
  ): Promise<HistoryEntry[]> {
    const last = before === null ? Number.MAX_SAFE_INTEGER : Number(before);
    return this.transactions.read(() => this.#charged.all(accountId, last, limit).map(toEntry));
  }

  running(accountId: string, limit: number): Promise<RunningRequest[]> {
    return this.transactions.read(() =>
      this.#running.all(accountId, limit).map(({ request_id: requestId, credits, created_at: at }) => ({
        ...{ requestId, credits },
        at: toIso(at),
      })),
    );
  }
}

function toEntry(row: EventRow): HistoryEntry {
  const { endpoint, language, credits } = row;
  return {
    id: String(row.hold_id),
    requestId: row.request_id,
    transcriptionId: row.transcription_id,
    ...{ endpoint, language, credits },
    audioSeconds: row.audio_ms / 1000,
    at: toIso(row.created_at),
  };
}
