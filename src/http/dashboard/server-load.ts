import type { EngineStats } from '../../engine/types.js';

/** An account's requests in flight, and its audio in the engine's backlog. */
export interface AccountLoad {
  email: string;
  requests: number;
  /** With jobs. */
  queuedFiles: number;
  queuedSeconds: number;
  jobSeconds: number;
}

export interface LiveSessionsLoad {
  sessions: number;
  /** That the machine carries. */
  most: number;
  /** Sessions that were not admitted, since the start of the server. */
  refused: number;
  /** From the end of an utterance to its text, of the last ones; null: there was none. */
  lagMs: { median: number; p95: number } | null;
}

export interface ServerLoad extends Omit<EngineStats, 'backlogByAccount' | 'realTimeFactor'> {
  /** Processing time / audio time of all slots together; null: nothing was transcribed yet. */
  realTimeFactor: number | null;
  /** ISO 8601. */
  at: string;
  requestsInFlight: number;
  /** Requests of this server that were answered 429 or 503, since its start. */
  refusals: number;
  live: LiveSessionsLoad;
  /** Resident bytes of this process. */
  memoryBytes: number;
  /** Delay of the event loop since the last sample, milliseconds: the 99th percentile; null: not measured yet. */
  eventLoopMs: number | null;
  /** Those with the most in the backlog, then in flight; and how many accounts have a request in flight. */
  accounts: AccountLoad[];
  busyAccounts: number;
}
