import type Database from 'better-sqlite3';
import type { AccountHistory, HistoryEntry, RunningRequest, UsageDay } from '../history.js';
import {
  toEntry,
  toRunning,
  toUsageDay,
  type ChargedRow,
  type HistoryDayRow,
  type RunningRow,
} from '../rows/history.js';
import { checkWindow, UsageReports, type UsageDayRow } from '../rows/usage.js';
import { utcDay, type WallClock } from '../time.js';
import type { UsageReport } from '../types.js';
import type { Transactions } from './transactions.js';

export class SqliteHistory implements AccountHistory {
  readonly #window;
  readonly #reports = new UsageReports();
  readonly #days;
  readonly #charged;
  readonly #running;

  constructor(
    database: Database.Database,
    private readonly clock: WallClock,
    private readonly transactions: Transactions,
  ) {
    this.#window = database.prepare<[string, number, number], UsageDayRow>(
      `SELECT day, endpoint, minutes, credits FROM usage_days WHERE account_id = ? AND day BETWEEN ? AND ?`,
    );
    this.#days = database.prepare<[string, number], HistoryDayRow>(
      `SELECT day, endpoint, requests, minutes, credits FROM usage_days WHERE account_id = ? AND day >= ?
       ORDER BY day, endpoint`,
    );
    this.#charged = database.prepare<[string, number, number], ChargedRow>(
      `SELECT hold_id, request_id, key_id, transcription_id, endpoint, audio_ms, minutes, language, model, credits,
         created_at
       FROM usage_events WHERE account_id = ? AND hold_id < ? ORDER BY hold_id DESC LIMIT ?`,
    );
    this.#running = database.prepare<[string, number], RunningRow>(
      `SELECT request_id, credits, created_at FROM holds WHERE account_id = ? AND settled_at IS NULL
       ORDER BY id DESC LIMIT ?`,
    );
  }

  report(accountId: string, days: number): Promise<UsageReport> {
    return this.transactions.read(() => {
      checkWindow(days);
      const today = utcDay(this.clock());
      return this.#reports.report(this.#window.all(accountId, today - days + 1, today), days, today);
    });
  }

  usageByDay(accountId: string, days: number): Promise<UsageDay[]> {
    return this.transactions.read(() => {
      checkWindow(days);
      return this.#days.all(accountId, utcDay(this.clock()) - days + 1).map(toUsageDay);
    });
  }

  charged(accountId: string, { limit, before }: { limit: number; before: string | null }): Promise<HistoryEntry[]> {
    const last = before === null ? Number.MAX_SAFE_INTEGER : Number(before);
    return this.transactions.read(() => this.#charged.all(accountId, last, limit).map(toEntry));
  }

  running(accountId: string, limit: number): Promise<RunningRequest[]> {
    return this.transactions.read(() => this.#running.all(accountId, limit).map(toRunning));
  }
}
