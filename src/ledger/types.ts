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
  { state: 'new'; token: string } | { state: 'replay'; response: StoredResponse } | { state: 'conflict' };

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
  createAccount(input: { email: string; name?: string | null }): Account;
  findAccount(email: string): Account | null;
  listAccounts(): Account[];

  createKey(input: { accountId: string; name: string; scopes: string[] }): CreatedKey;
  listKeys(accountId: string): ApiKey[];
  /** First revocation time; null when the account has no such key. */
  revokeKey(accountId: string, keyId: string): { id: string; revokedAt: string } | null;
  /** null: unknown or revoked. */
  authenticate(rawKey: string): Identity | null;
  /** Ids, out of those given, of keys that are revoked by now (the CLI may have revoked them). */
  revokedAmong(keyIds: readonly string[]): string[];

  grantCredits(input: { accountId: string; amount: number; expiresAt?: string | null }): void;
  balance(accountId: string): Balance;
  /** Throws `insufficient_credits` (VerbatimError). */
  hold(input: { accountId: string; keyId: string; requestId: string; credits: number }): Hold;
  /** Usage row + spend + idempotency record in one transaction; throws `invalid_api_key` if the key was revoked meanwhile. */
  settle(
    holdId: string,
    settlement: Settlement,
  ): { creditsUsed: number; creditsRemaining: number; body: string };
  release(holdId: string): void;

  beginIdempotent(input: { accountId: string; key: string; fingerprint: string }): IdempotencyState;
  /** Forgets a 'new' record whose request failed. */
  abandonIdempotent(token: string): void;

  usage(accountId: string, days: number): UsageReport;
  /** Names of the invariants that do not hold; empty when the books balance. */
  audit(): { invariant: string; detail: string }[];
  /** Throws when the database cannot be written. */
  checkWritable(): void;
  close(): void;
}
