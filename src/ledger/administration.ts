/** What operators do with accounts beside making them and granting credits. */
import type { Account } from './types.js';
import type { JsonValue } from './json.js';

/** Where a list of accounts goes on: behind this one. */
export type AccountPlace = Pick<Account, 'createdAt' | 'id'>;

export interface UsagePlace {
  date: string;
  accountId: string;
  endpoint: string;
}

export interface UsageQuery {
  /** UTC days as YYYY-MM-DD, both included. */
  from: string;
  to: string;
  /** null: all accounts. */
  accountId: string | null;
  limit: number;
  after: UsagePlace | null;
}

/** What one account was charged on one day at one endpoint. */
export interface AccountUsage extends UsagePlace {
  /** null: the account is deleted. */
  email: string | null;
  requests: number;
  minutes: number;
  credits: number;
}

/** An answer that is kept for a repeat of its request. */
export interface KeptAnswer {
  /** The client's Idempotency-Key; null: it sent none. */
  idempotencyKey: string | null;
  createdAt: string;
  expiresAt: string;
  answer: JsonValue;
}

export interface KeptWebhookEvent {
  id: string;
  jobId: string;
  createdAt: string;
  attempts: number;
  deliveredAt: string | null;
  lastProblem: string | null;
}

export interface SignInMethods {
  passwordSetAt: string | null;
  /** Of the open link. */
  linkExpiresAt: string | null;
}

/** A page of what is ordered by `T`'s text; `after`: the last one of the page before. */
export interface Page {
  limit: number;
  after: string | null;
}

export interface AccountAdministration {
  /** null: there is no such account, or not any more. */
  find(accountId: string): Promise<Account | null>;
  /** The oldest first. */
  list(page: { limit: number; after: AccountPlace | null }): Promise<Account[]>;

  /** From now on keys and sessions open nothing; the time of the first call stays. Throws `account_not_found`. */
  suspend(accountId: string): Promise<Account>;
  /** Throws `account_not_found`. */
  resume(accountId: string): Promise<Account>;
  /**
   * Deletes its identity and all that was stored for it; resolves when nothing is left. Packs and usage stay under its
   * id, which names nobody then. Credits that were left have expired. A deletion that was begun is finished by the
   * housekeeping of any server. Throws `account_not_found`.
   */
  delete(accountId: string): Promise<void>;

  /** By day, account and endpoint. Throws `invalid_request` for days that are none, or in the wrong order. */
  usage(query: UsageQuery): Promise<AccountUsage[]>;

  signInMethods(accountId: string): Promise<SignInMethods>;
  /** By key. */
  answers(accountId: string, page: Page): Promise<{ place: string; kept: KeptAnswer }[]>;
  /** Of the account's jobs, by their ids. */
  webhookEvents(accountId: string, page: Page): Promise<KeptWebhookEvent[]>;
}
