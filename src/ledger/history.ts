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
  credits: number;
  at: string;
}

export interface AccountHistory {
  /** Throws `invalid_request` unless days is an integer from 1 to 90. */
  report(accountId: string, days: number): Promise<UsageReport>;
  /**
   * Of the last `days` UTC days, today included; the oldest first, days without use left out. Throws `invalid_request`
   * as report().
   */
  usageByDay(accountId: string, days: number): Promise<UsageDay[]>;
  /** Charges, the newest first. `before`: the id of an entry; the entries before it are returned. */
  charged(accountId: string, page: { limit: number; before: string | null }): Promise<HistoryEntry[]>;
  /** The newest first. */
  running(accountId: string, limit: number): Promise<RunningRequest[]>;
}
