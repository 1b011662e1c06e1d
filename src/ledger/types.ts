/** What the shell asks of the ledger. Money is integers; every method is one synchronous transaction. */

export interface Account {
  id: string;
  email: string;
  name: string | null;
  createdAt: string;
}

export interface ApiKey {
  id: string;
  accountId: string;
  name: string;
  prefix: string;
  scopes: string[];
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

export interface CreatedKey extends ApiKey {
  /** Shown once; only its HMAC is stored. */
  rawKey: string;
}

export interface Identity {
  account: Account;
  key: ApiKey;
}

export interface Balance {
  /** Spendable now: unexpired packs' remaining, holds already taken off. */
  balance: number;
  lifetimePurchased: number;
}

export interface CreditPack {
  id: string;
  accountId: string;
  purchased: number;
  remaining: number;
  createdAt: string;
  /** null: never. */
  expiresAt: string | null;
}

export interface Hold {
  id: string;
  credits: number;
}

export interface StoredResponse {
  status: number;
  body: string;
}

/** How begin() found an Idempotency-Key. */
export type IdempotencyState =
  | { state: 'new'; token: string }
  | { state: 'replay'; response: StoredResponse }
  | { state: 'conflict'; reason: 'different_request' | 'still_running' };

/** What dead servers had left behind, and this one gave back. */
export interface Recovery {
  holds: number;
  credits: number;
  idempotencyRecords: number;
}

export interface Settlement {
  /** Credits to charge, at most the hold's; the rest of the hold returns to its packs. */
  credits: number;
  endpoint: string;
  audioSeconds: number;
  /** Started minutes, as billed. */
  minutes: number;
  requestId: string;
  /** Token of a 'new' idempotency record, completed in the same transaction. */
  idempotencyToken?: string;
  /** Builds the response body from the balance after the charge; stored with the idempotency record. */
  response: (creditsRemaining: number) => string;
}

export interface UsageReport {
  windowDays: number;
  totalMinutes: number;
  totalCredits: number;
  byDay: { date: string; minutes: number }[];
  byEndpoint: { endpoint: string; minutes: number }[];
}

export interface Ledger {
  readonly recovery: Recovery;
  /** Runs several calls as one transaction: all of them, or none. */
  transaction<T>(work: () => T): T;

  /** Throws `invalid_request` for a bad email address or one that is taken. */
  createAccount(input: { email: string; name?: string | null }): Account;
  findAccount(email: string): Account | null;
  listAccounts(): Account[];

  /** Throws `invalid_request` for a bad name or unknown scope, `not_found` for an unknown account. */
  createKey(input: { accountId: string; name: string; scopes: string[] }): CreatedKey;
  listKeys(accountId: string): ApiKey[];
  /** First revocation time; null when the account has no such key. */
  revokeKey(accountId: string, keyId: string): { id: string; revokedAt: string } | null;
  /** null: unknown or revoked. */
  authenticate(rawKey: string): Identity | null;
  /** Ids, out of those given, of keys that are revoked by now (the CLI may have revoked them). */
  revokedAmong(keyIds: readonly string[]): string[];

  /** expiresAt: an ISO 8601 date (its first moment, UTC) or date and time, to come. Throws `invalid_request`. */
  grantCredits(input: { accountId: string; amount: number; expiresAt?: string | null }): CreditPack;
  balance(accountId: string): Balance;
  /** Throws `insufficient_credits`, or `invalid_api_key` if the key was revoked meanwhile. */
  hold(input: { accountId: string; keyId: string; requestId: string; credits: number }): Hold;
  /**
   * Usage row + spend + idempotency record in one transaction. Throws `invalid_api_key` if the key was revoked
   * meanwhile; whenever it throws, nothing has changed and the hold is to be released.
   */
  settle(
    holdId: string,
    settlement: Settlement,
  ): { creditsUsed: number; creditsRemaining: number; body: string };
  /** Idempotent; does nothing to a settled hold. When the database cannot be written, it is done as soon as it can. */
  release(holdId: string): void;

  beginIdempotent(input: { accountId: string; key: string; fingerprint: string }): IdempotencyState;
  /** Whether a request with this key is running, or its answer is stored. */
  knowsIdempotencyKey(accountId: string, key: string): boolean;
  /** Forgets a 'new' record whose request failed; as soon as the database can be written. */
  abandonIdempotent(token: string): void;

  /** Throws `invalid_request` unless days is an integer from 1 to 90. */
  usage(accountId: string, days: number): UsageReport;
  /** Names of the invariants that do not hold; empty when the books balance. */
  audit(): { invariant: string; detail: string }[];
  /** Throws when the database cannot be written; a success counts for the next second. */
  checkWritable(): void;
  close(): void;
}
