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
import { activitySql, activityValues, toActivityPage, type ActivityRow } from '../rows/activity.js';
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
import type { Statements } from './statements.js';

const ACTIVITY = activitySql(
  {
    ...{ account: '$1::text', from: '$2::bigint', before: '$3::bigint', place: '$4::text', state: '$5::text' },
    ...{ key: '$6::text', endpoint: '$7::text', limit: '$8::bigint' },
  },
  ' COLLATE "C"',
);

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

  async usageByKey(accountId: string, days: number): Promise<UsageOfKey[]> {
    checkWindow(days);
    const rows = await this.statements.repeatable<UsageOfKeyRow>(
      `${USAGE_OF_KEYS} WHERE used.account_id = $1 AND used.day >= $2 ${USAGE_OF_KEYS_END}`,
      [accountId, utcDay(this.clock()) - days + 1],
    );
    return rows.map(toUsageOfKey);
  }

  async usageByModel(accountId: string, days: number): Promise<UsageOfModel[]> {
    checkWindow(days);
    const rows = await this.statements.repeatable<UsageOfModelRow>(
      `${USAGE_OF_MODELS} WHERE account_id = $1 AND day >= $2 ${USAGE_OF_MODELS_END}`,
      [accountId, utcDay(this.clock()) - days + 1],
    );
    return rows.map(toUsageOfModel);
  }

  async activity(accountId: string, query: ActivityQuery): Promise<ActivityPage> {
    const asked = activityValues(accountId, query, this.clock());
    const { account, from, before, place, state, key, endpoint, limit } = asked;
    const values = [account, from, before, place, state, key, endpoint, limit];
    return toActivityPage(await this.statements.repeatable<ActivityRow>(ACTIVITY, values), query.limit);
  }

  async charged(
    accountId: string,
    { limit, before }: { limit: number; before: string | null },
  ): Promise<HistoryEntry[]> {
    const rows = await this.statements.repeatable<ChargedRow>(
      `${CHARGED} WHERE event.account_id = $1 AND event.hold_id < $2 ORDER BY event.hold_id DESC LIMIT $3`,
      [accountId, before === null ? Number.MAX_SAFE_INTEGER : Number(before), limit],
    );
    return rows.map(toEntry);
  }

  async running(accountId: string, limit: number): Promise<RunningRequest[]> {
    const rows = await this.statements.repeatable<RunningRow>(
      `SELECT request_id, file_name, credits, created_at FROM holds WHERE account_id = $1 AND settled_at IS NULL
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
