/**
 * What the shell asks of the ledger. Money is integers; every method is one transaction: all of it, or nothing.
 *
 * Books that others keep busy: reads, holds and the work of administration wait a moment and then throw `overloaded`; a
 * settlement waits until it is done or the ledger closes, because the work it is for is done already.
 */
import type { AccountHistory } from './history.js';
import type { JsonText } from './json-text.js';
import type { JobBooks, WebhookBooks } from './jobs.js';
import type { AccountAccess, Role } from './access/types.js';
import type { AccountAdministration } from './administration.js';
import type { OperatorLog } from './operators.js';

export interface Account {
  id: string;
  email: string;
  name: string | null;
  role: Role;
  createdAt: string;
  /** null: it is not. */
  suspendedAt: string | null;
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

export interface IssuedKey extends ApiKey {
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
  /** What it was paid with, as the seller calls it; null: nobody said. */
  paymentId: string | null;
}

export interface Grant {
  accountId: string;
  amount: number;
  /** An ISO 8601 date (its first moment, UTC) or date and time, to come. */
  expiresAt?: string | null;
  /** 1 to 255 printable characters without spaces; one payment grants one pack, however often it is told. */
  paymentId?: string | null;
}

export interface GrantedPack extends CreditPack {
  /** It is of an earlier call with the same payment; nothing was added. */
  repeated: boolean;
}

/** Where a pack's credits are; they sum to what was purchased. */
export interface PackAmounts {
  remaining: number;
  held: number;
  spent: number;
  expired: number;
}

/** What of an account a new request is held against. */
export interface Standing {
  /** As Balance has it. */
  balance: number;
  /** Requests that have a hold, on all servers of the database; no jobs. */
  inFlight: number;
}

export interface HoldRequest {
  accountId: string;
  keyId: string;
  requestId: string;
  credits: number;
  /** Requests of the account that may have a hold at a time, this one among them; default: any number. */
  mostInFlight?: number;
}

export interface Hold {
  id: string;
  credits: number;
}

/** A value as JSON keeps it. */
export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [member: string]: JsonValue };

/** What was charged, and what is left. */
export interface Charge {
  creditsUsed: number;
  creditsRemaining: number;
}

/** An answer kept under its Idempotency-Key. */
export type StoredAnswer =
  | { kind: 'result'; result: JsonValue; charge: Charge }
  /** The body as version 0.1.0 rendered it, before results were stored. */
  | { kind: 'body'; body: string }
  /** A job that was accepted; what its client was told. */
  | { kind: 'job'; told: JsonValue };

/** How begin() found an Idempotency-Key. */
export type IdempotencyState =
  | { state: 'new'; token: string }
  | { state: 'replay'; answer: StoredAnswer }
  | { state: 'conflict'; reason: 'different_request' | 'still_running' };

/** A request that came without an Idempotency-Key, whose client may repeat it unasked. */
export interface UnkeyedRequest {
  accountId: string;
  /** Of the audio and all fields. */
  fingerprint: string;
  /** The client says that it is a repeat. */
  retried: boolean;
}

/** How beginDerived() found it; the token is of the record that its answer is, or will be, stored in. */
export type DerivedState =
  { state: 'new'; token: string } | { state: 'replay'; token: string; answer: StoredAnswer };

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
  /** For the account's history. */
  transcriptionId: string;
  /** As it was spoken; ISO 639-1. */
  language: string;
  /** Some of the answer has been delivered already: it is charged though the key was revoked since. Default: no. */
  delivered?: boolean;
  /** Token of a 'new' record, of a given key or a derived one, completed in the same transaction. */
  idempotencyToken?: string;
  /** What the work gave, stored with the idempotency record, so that a repeat gets the same. */
  result: JsonValue | JsonText;
}

/** An account as a first start makes it: with credits and keys. */
export interface FirstAccount {
  email: string;
  name: string;
  role: Role;
  credits: number;
  keys: readonly { name: string; scopes: string[] }[];
}

export interface Violation {
  invariant: string;
  detail: string;
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
  readonly jobs: JobBooks;
  readonly webhooks: WebhookBooks;
  /** Signing in to the dashboard. */
  readonly access: AccountAccess;
  readonly history: AccountHistory;
  /** What operators do with accounts. */
  readonly administration: AccountAdministration;
  readonly operators: OperatorLog;

  /** Throws `invalid_request` for a bad email address or one that is taken, or a bad name. */
  createAccount(input: { email: string; name?: string | null }): Promise<Account>;
  /** Account, credits and keys (in their order), unless there is an account or was one: then null, and nothing is made. */
  createFirstAccount(input: FirstAccount): Promise<IssuedKey[] | null>;
  findAccount(email: string): Promise<Account | null>;
  listAccounts(): Promise<Account[]>;

  /** Throws `invalid_request` for a bad name or unknown scope, `account_not_found`. */
  createKey(input: { accountId: string; name: string; scopes: string[] }): Promise<IssuedKey>;
  listKeys(accountId: string): Promise<ApiKey[]>;
  /** First revocation time; null when the account has no such key. */
  revokeKey(accountId: string, keyId: string): Promise<{ id: string; revokedAt: string } | null>;
  /** null: unknown or revoked. Throws `account_suspended`. */
  authenticate(rawKey: string): Promise<Identity | null>;
  /** Ids, out of those given, of keys that may not be used any more: revoked by now (the CLI may have), or of a suspended account. */
  revokedAmong(keyIds: readonly string[]): Promise<string[]>;
  /**
   * Tells the ids of keys that are revoked from now on: by this ledger, and by others where the database passes it on. Whoever must
   * not miss one asks revokedAmong() as well. Ends the telling when what it answers is called.
   */
  onRevoked(tell: (keyId: string) => void): () => void;

  /**
   * Throws `invalid_request`, `account_not_found`, or `idempotency_conflict` when the payment was another account's or of another amount;
   * the expiry of the first call stays.
   */
  grantCredits(input: Grant): Promise<GrantedPack>;
  balance(accountId: string): Promise<Balance>;
  standing(accountId: string): Promise<Standing>;
  /** Those that hold credits, in the order in which they are spent; then the newest `emptyOnes` of the others. */
  listPacks(accountId: string, emptyOnes: number): Promise<(CreditPack & PackAmounts)[]>;
  /**
   * Throws `insufficient_credits`, `rate_limited` when the account has `mostInFlight` already, or `invalid_api_key` if the key was
   * revoked, or the account suspended, meanwhile.
   */
  hold(request: HoldRequest): Promise<Hold>;
  /**
   * Usage row + spend + idempotency record in one transaction. Throws `invalid_api_key` if the key was revoked, or the account
   * suspended, meanwhile, unless something was delivered; of a deleted account always. Whenever it throws, nothing has changed and
   * the hold is to be released.
   */
  settle(holdId: string, settlement: Settlement): Promise<Charge>;
  /**
   * Idempotent; does nothing to a settled hold. Never waits: when the database cannot be written now, it is done as soon
   * as it can.
   */
  release(holdId: string): Promise<void>;

  beginIdempotent(input: { accountId: string; key: string; fingerprint: string }): Promise<IdempotencyState>;
  /** Whether a request with this key is running, or its answer is stored. */
  knowsIdempotencyKey(accountId: string, key: string): Promise<boolean>;
  /**
   * The answer of the same request of the last ten minutes that was not delivered, or with `retried` any of its answers;
   * else a new record. `busy`: tokens of answers that are on their way just now, which are left alone.
   */
  beginDerived(request: UnkeyedRequest, busy: readonly string[]): Promise<DerivedState>;
  /** Whether a request of the account without a key could get a stored answer. */
  mayBeRepeated(accountId: string, retried: boolean): Promise<boolean>;
  /** Whether the answer of a settled record has reached its client; like a release, it is done as soon as it can be. */
  noteDelivery(token: string, delivered: boolean): Promise<void>;
  /** Forgets a 'new' record whose request failed; like a release, it is done as soon as it can be. */
  abandonIdempotent(token: string): Promise<void>;

  /** Throws `invalid_request` unless days is an integer from 1 to 90. */
  usage(accountId: string, days: number): Promise<UsageReport>;
  /** The invariants that do not hold; empty when the books balance. */
  audit(): Promise<Violation[]>;
  /** Throws when the database cannot be written; a success counts for the next second. */
  checkWritable(): Promise<void>;
  /** Ends what still waits. What a server then holds is given back, here or by the next start. */
  close(): Promise<void>;
}
