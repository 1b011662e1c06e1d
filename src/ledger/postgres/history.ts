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
import type { Statements } from './statements.js';

export class PostgresHistory implements AccountHistory {
  readonly #reports = new UsageReports();

  constructor(
    private readonly statements: Statements,
    private readonly clock: WallClock,
  ) {}

  async usageByDay(accountId: string, days: number): Promise<UsageDay[]> {
    checkWindow(days);
    const rows = await this.statements.repeatable<HistoryDayRow>(
      `SELECT day, endpoint, requests, minutes, credits FROM usage_days WHERE account_id = $1 AND day >= $2
       ORDER BY day, endpoint`,
      [accountId, utcDay(this.clock()) - days + 1],
    );
    return rows.map(toUsageDay);
  }

  async charged(
    accountId: string,
    { limit, before }: { limit: number; before: string | null },
  ): Promise<HistoryEntry[]> {
    const rows = await this.statements.repeatable<ChargedRow>(
      `SELECT hold_id, request_id, key_id, transcription_id, endpoint, audio_ms, minutes, language, model, credits,
         created_at
       FROM usage_events WHERE account_id = $1 AND hold_id < $2 ORDER BY hold_id DESC LIMIT $3`,
      [accountId, before === null ? Number.MAX_SAFE_INTEGER : Number(before), limit],
    );
    return rows.map(toEntry);
  }

  async running(accountId: string, limit: number): Promise<RunningRequest[]> {
    const rows = await this.statements.repeatable<RunningRow>(
      `SELECT request_id, credits, created_at FROM holds WHERE account_id = $1 AND settled_at IS NULL
       ORDER BY id DESC LIMIT $2`,
      [accountId, limit],
    );
    return rows.map(toRunning);
  }

  /** The last `days` UTC days, today included. */
  async report(accountId: string, days: number): Promise<UsageReport> {
    checkWindow(days);
    const today = utcDay(this.clock());
    const rows = await this.statements.repeatable<UsageDayRow>(
      'SELECT day, endpoint, minutes, credits FROM usage_days WHERE account_id = $1 AND day BETWEEN $2 AND $3',
      [accountId, today - days + 1, today],
    );
    return this.#reports.report(rows, days, today);
  }
}
