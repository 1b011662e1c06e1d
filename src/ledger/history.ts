/** An account's own history: never audio, never text. */
import type { UsageReport } from './types.js';

export interface UsageDay {
  date: string;
  endpoint: string;
  requests: number;
  minutes: number;
  credits: number;
}

export interface HistoryEntry {
  /** The cursor for earlier entries. */
  id: string;
  requestId: string;
  keyId: string;
  /** null: charged by a version that did not note it. */
  transcriptionId: string | null;
  endpoint: string;
  /** Of the uploaded file; null: it has none, or a version charged it that did not note it. */
  fileName: string | null;
  audioSeconds: number;
  /** Started ones, as billed. */
  minutes: number;
  language: string | null;
  /** The name of the speech model; null: charged by a version that did not note it. */
  model: string | null;
  credits: number;
  at: string;
}

/** Credits that are set aside for work that has not ended. */
export interface RunningRequest {
  requestId: string;
  /** Of the uploaded file; null: it has none. */
  fileName: string | null;
  credits: number;
  at: string;
}

export interface UsageSums {
  requests: number;
  minutes: number;
  credits: number;
}

export interface UsageOfKey extends UsageSums {
  keyId: string;
  name: string;
}

export interface UsageOfModel extends UsageSums {
  /** null: charged by a version that did not note it. */
  model: string | null;
}

export const ACTIVITY_STATES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const;
export type ActivityState = (typeof ACTIVITY_STATES)[number];

/** A charged request, one that runs, or a job. */
export interface Activity {
  requestId: string;
  /** null: it is no job. */
  jobId: string | null;
  /** null: it is not done, or a version charged it that did not note it. */
  transcriptionId: string | null;
  keyId: string;
  keyName: string;
  /** null: of one that is not done. */
  endpoint: string | null;
  fileName: string | null;
  /** null: of one that is not done, or charged by a version that did not note it. */
  model: string | null;
  language: string | null;
  /** null: of a request that runs. */
  audioSeconds: number | null;
  state: ActivityState;
  /** Of a job that failed. */
  error: { code: string; message: string } | null;
  /** Held while it is queued or runs, then spent. */
  credits: number;
  /** Of a job and of a request that runs: when it came; of another: when it was charged. */
  at: string;
}

/** Where a list goes on. */
export interface ActivityPlace {
  /** Milliseconds since 1970. */
  at: number;
  /** Among those of the same time. */
  place: string;
}

export interface ActivityQuery {
  /** null: all; so for the others. */
  state: ActivityState | null;
  keyId: string | null;
  /** Jobs that are not done have none. */
  endpoint: string | null;
  /** Of the last so many UTC days, today included. */
  days: number | null;
  limit: number;
  after: ActivityPlace | null;
}

export interface ActivityPage {
  entries: Activity[];
  /** null: there are no older ones. Of a page that has few or none: they were looked for as far as this. */
  next: ActivityPlace | null;
}

export interface AccountHistory {
  /** Throws `invalid_request` unless days is an integer from 1 to 90. */
  report(accountId: string, days: number): Promise<UsageReport>;
  /**
   * Of the last `days` UTC days, today included; the oldest first, days without use left out. Throws `invalid_request`
   * as report().
   */
  usageByDay(accountId: string, days: number): Promise<UsageDay[]>;
  /** Of the last `days` UTC days, the most credits first. Throws `invalid_request` as report(). */
  usageByKey(accountId: string, days: number): Promise<UsageOfKey[]>;
  usageByModel(accountId: string, days: number): Promise<UsageOfModel[]>;
  /**
   * The newest first. A filtered page looks through a bounded number of charges and jobs; it may have few entries, or
   * none, and a next page.
   */
  activity(accountId: string, query: ActivityQuery): Promise<ActivityPage>;
  /** Charges, the newest first. `before`: the id of an entry; the entries before it are returned. */
  charged(accountId: string, page: { limit: number; before: string | null }): Promise<HistoryEntry[]>;
  /** The newest first. */
  running(accountId: string, limit: number): Promise<RunningRequest[]>;
}
