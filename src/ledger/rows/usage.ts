/** The rows of charges, and the report of them. */
import { VerbatimError } from '../../errors.js';
import { dateOfDay } from '../time.js';
import type { Settlement, UsageReport } from '../types.js';

export const MAX_WINDOW_DAYS = 90;

/** A day and an endpoint of an account, with what the report needs of it. */
export interface UsageDayRow {
  day: number;
  endpoint: string;
  minutes: number;
  credits: number;
}

/** Throws `invalid_request`. */
export function checkWindow(days: number): void {
  if (Number.isInteger(days) && days >= 1 && days <= MAX_WINDOW_DAYS) return;
  throw new VerbatimError('invalid_request', `days must be an integer from 1 to ${MAX_WINDOW_DAYS}.`, {
    param: 'days',
  });
}

/** The counted values of a usage row. Throws a RangeError. */
export function checkUsage(given: Pick<Settlement, 'minutes' | 'audioSeconds'>): {
  minutes: number;
  audioMs: number;
} {
  const minutes = wholeNumber('minutes', given.minutes);
  return { minutes, audioMs: wholeNumber('audio milliseconds', Math.round(given.audioSeconds * 1000)) };
}

/** Of the `days` days that end with `today`, out of their rows. */
export class UsageReports {
  /** Caches dates by day, for the days of a window or two. */
  #dates = new Map<number, string>();

  report(rows: readonly UsageDayRow[], days: number, today: number): UsageReport {
    const first = today - days + 1;
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

function wholeNumber(what: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new RangeError(`${value} ${what}; allowed: a whole number, not negative.`);
}
