/** What operators do with accounts, except for creating them and granting credits. */
import type { Account } from './types.js';
import type { JsonValue } from './json.js';

/** An account as its operator lists it. */
export interface ListedAccount extends Account {
  /** Spendable credits. */
  balance: number;
  /** When a key or a session of it was used last; null: never, as far as it is still known. */
  seenAt: string | null;
}

export interface CustomerQuery {
  /** Words of the address and the name, each the beginning of one at least; an address; an id. null: all. */
  search: string | null;
  limit: number;
  /** Not for a search. */
  after: AccountPlace | null;
}

/** A list of accounts continues after this one. */
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

/** An answer that is stored in case its request is repeated. */
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
  /** Of the sign-in link that is still valid; null: there is none. */
  linkExpiresAt: string | null;
}

/** A page of a list. `after`: the last entry of the previous page; null: the first page. */
export interface Page {
  limit: number;
  after: string | null;
}

export interface AccountAdministration {
  /** null: there is no such account, or it was deleted. */
  find(accountId: string): Promise<Account | null>;
  /** The oldest first. */
  list(page: { limit: number; after: AccountPlace | null }): Promise<Account[]>;

  /** The oldest first. Of a search with more matches than it looks through, not always the oldest ones. */
  customers(query: CustomerQuery): Promise<ListedAccount[]>;

  /**
   * Keys and sessions are refused from now on. A second call keeps the time of the first. Throws `account_not_found`.
   */
  suspend(accountId: string): Promise<Account>;
  /** Throws `account_not_found`. */
  resume(accountId: string): Promise<Account>;
  /**
   * Deletes its identity and all its stored data; resolves when nothing is left. Packs and usage stay under its id,
   * which is then anonymous. Remaining credits expire. If a deletion is interrupted, the housekeeping of any server
   * finishes it. Throws `account_not_found`.
   */
  delete(accountId: string): Promise<void>;

  /** By day, account and endpoint. Throws `invalid_request` for invalid days, or days in the wrong order. */
  usage(query: UsageQuery): Promise<AccountUsage[]>;

  signInMethods(accountId: string): Promise<SignInMethods>;
  /** Ordered by key. */
  answers(accountId: string, page: Page): Promise<{ place: string; kept: KeptAnswer }[]>;
  /** Events of the account's jobs, ordered by id. */
  webhookEvents(accountId: string, page: Page): Promise<KeptWebhookEvent[]>;
}
