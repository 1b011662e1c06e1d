import type Database from 'better-sqlite3';
import { VerbatimError } from '../../errors.js';
import type { HoldRow } from './holds.js';
import { dateOfDay, utcDay, type WallClock } from '../time.js';
import type { Settlement, UsageReport } from '../types.js';

export const MAX_WINDOW_DAYS = 90;

interface DayRow {
  day: number;
  endpoint: string;
  minutes: number;
  credits: number;
}

/** The append-only record of what was charged, and its sums by day and endpoint. */
export class UsageRecords {
  readonly #insertEvent;
  readonly #addToDay;
  readonly #window;
  /** Dates by day; those of a window or two. */
  #dates = new Map<number, string>();

  constructor(
    database: Database.Database,
    private readonly clock: WallClock,
  ) {
    this.#insertEvent = database.prepare<
      [number, string, string, string, string, number, number, number, number, string, string]
    >(
      `INSERT INTO usage_events
         (hold_id, account_id, key_id, request_id, endpoint, audio_ms, minutes, credits, created_at, transcription_id, language)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#addToDay = database.prepare<[string, number, string, number, number]>(
      `INSERT INTO usage_days (account_id, day, endpoint, requests, minutes, credits) VALUES (?, ?, ?, 1, ?, ?)
       ON CONFLICT (account_id, day, endpoint) DO UPDATE SET requests = requests + 1,
         minutes = minutes + excluded.minutes, credits = credits + excluded.credits`,
    );
    this.#window = database.prepare<[string, number, number], DayRow>(
      `SELECT day, endpoint, minutes, credits FROM usage_days WHERE account_id = ? AND day BETWEEN ? AND ?`,
    );
  }

  /** The one usage row of a settled hold. Callers hold the write transaction. */
  record(hold: HoldRow, settlement: Settlement): void {
    const { endpoint, credits } = settlement;
    const now = this.clock();
    const minutes = wholeNumber('minutes', settlement.minutes);
    const audioMs = wholeNumber('audio milliseconds', Math.round(settlement.audioSeconds * 1000));
    this.#insertEvent.run(
      hold.id,
      hold.account_id,
      hold.key_id,
      settlement.requestId,
      endpoint,
      audioMs,
      minutes,
      credits,
      now,
      settlement.transcriptionId,
      settlement.language,
    );
    this.#addToDay.run(hold.account_id, utcDay(now), endpoint, minutes, credits);
  }

  /** The last `days` UTC days, today included. */
  report(accountId: string, days: number): UsageReport {
    checkWindow(days);
    const today = utcDay(this.clock());
    const first = today - days + 1;
    const rows = this.#window.all(accountId, first, today);
    const byDay = Array.from({ length: days }, (_, index) => ({
      date: this.#date(first + index),
      minutes: 0,
    }));
    const byEndpoint = new Map<string, number>();
    for (const { day, endpoint, minutes } of rows) {
      const entry = byDay[day - first];
      if (entry !== undefined) entry.minutes += minutes;
      byEndpoint.set(endpoint, (byEndpoint.get(endpoint) ?? 0) + minutes);
    }
    return {
      windowDays: days,
      totalMinutes: rows.reduce((sum, row) => sum + row.minutes, 0),
      totalCredits: rows.reduce((sum, row) => sum + row.credits, 0),
      byDay,
      byEndpoint: [...byEndpoint]
        .map(([endpoint, minutes]) => ({ endpoint, minutes }))
        .sort((a, b) => b.minutes - a.minutes || (a.endpoint < b.endpoint ? -1 : 1)),
    };
  }

  /** Making the dates of a window costs as much as reading it. */
  #date(day: number): string {
    const known = this.#dates.get(day);
    if (known !== undefined) return known;
    if (this.#dates.size >= 2 * MAX_WINDOW_DAYS) this.#dates = new Map();
    const date = dateOfDay(day);
    this.#dates.set(day, date);
    return date;
  }
}

/** Throws `invalid_request`. */
export function checkWindow(days: number): void {
  if (Number.isInteger(days) && days >= 1 && days <= MAX_WINDOW_DAYS) return;
  throw new VerbatimError('invalid_request', `days must be an integer from 1 to ${MAX_WINDOW_DAYS}.`, {
    param: 'days',
  });
}

function wholeNumber(what: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new RangeError(`${value} ${what}; allowed: a whole number, not negative.`);
}
