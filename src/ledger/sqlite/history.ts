import type Database from 'better-sqlite3';
import type {
  AccountHistory,
  ActivityPage,
  ActivityQuery,
  HistoryEntry,
  RunningRequest,
  UsageDay,
  UsageOfKey,
  UsageOfModel,
} from '../history.js';
import {
  activitySql,
  activityValues,
  toActivityPage,
  type ActivityRow,
  type ActivityValues,
} from '../rows/activity.js';
import {
  CHARGED,
  toEntry,
  toRunning,
  toUsageDay,
  toUsageOfKey,
  toUsageOfModel,
  USAGE_OF_KEYS,
  USAGE_OF_KEYS_END,
  USAGE_OF_MODELS,
  USAGE_OF_MODELS_END,
  type ChargedRow,
  type HistoryDayRow,
  type RunningRow,
  type UsageOfKeyRow,
  type UsageOfModelRow,
} from '../rows/history.js';
import { checkWindow, UsageReports, type UsageDayRow } from '../rows/usage.js';
import { utcDay, type WallClock } from '../time.js';
import type { UsageReport } from '../types.js';
import type { Transactions } from './transactions.js';

const ACTIVITY_VALUES: Readonly<Record<keyof ActivityValues, string>> = {
  ...{ account: '@account', from: '@from', before: '@before', place: '@place', state: '@state', key: '@key' },
  ...{ endpoint: '@endpoint', limit: '@limit' },
};

export class SqliteHistory implements AccountHistory {
  readonly #window;
  readonly #reports = new UsageReports();
  readonly #days;
  readonly #charged;
  readonly #running;
  readonly #byKey;
  readonly #byModel;
  readonly #activity;

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
      `${CHARGED} WHERE event.account_id = ? AND event.hold_id < ? ORDER BY event.hold_id DESC LIMIT ?`,
    );
    this.#running = database.prepare<[string, number], RunningRow>(
      `SELECT request_id, file_name, credits, created_at FROM holds WHERE account_id = ? AND settled_at IS NULL
       ORDER BY id DESC LIMIT ?`,
    );
    this.#byKey = database.prepare<[string, number], UsageOfKeyRow>(
      `${USAGE_OF_KEYS} WHERE used.account_id = ? AND used.day >= ? ${USAGE_OF_KEYS_END}`,
    );
    this.#byModel = database.prepare<[string, number], UsageOfModelRow>(
      `${USAGE_OF_MODELS} WHERE account_id = ? AND day >= ? ${USAGE_OF_MODELS_END}`,
    );
    this.#activity = database.prepare<ActivityValues, ActivityRow>(activitySql(ACTIVITY_VALUES));
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

  usageByKey(accountId: string, days: number): Promise<UsageOfKey[]> {
    return this.transactions.read(() => {
      checkWindow(days);
      return this.#byKey.all(accountId, utcDay(this.clock()) - days + 1).map(toUsageOfKey);
    });
  }

  usageByModel(accountId: string, days: number): Promise<UsageOfModel[]> {
    return this.transactions.read(() => {
      checkWindow(days);
      return this.#byModel.all(accountId, utcDay(this.clock()) - days + 1).map(toUsageOfModel);
    });
  }

  activity(accountId: string, query: ActivityQuery): Promise<ActivityPage> {
    return this.transactions.read(() => {
      const values = activityValues(accountId, query, this.clock());
      return toActivityPage(this.#activity.all(values), query.limit);
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
