/**
 * The ledger's interface, in parts. Money is integers. Every method is one transaction: all of it, or nothing. While
 * others keep the database busy, reads, holds and administration wait a moment and then throw `overloaded`. A
 * settlement waits until it is done or the ledger closes, because its work is done already.
 */
import type { AccountAccess } from './access/types.js';
import type { AccountAdministration } from './administration.js';
import type { AccountHistory } from './history.js';
import type { JobLedger, WebhookLedger } from './jobs.js';
import type { OperatorLog } from './operators.js';
import type { TranscriptLedger } from './transcripts.js';
import type {
  Account,
  AccountState,
  ApiKey,
  Balance,
  Charge,
  CreditPack,
  DerivedState,
  EphemeralIdentity,
  EphemeralKey,
  FirstAccount,
  Grant,
  GrantedPack,
  Hold,
  HoldRequest,
  IdempotencyState,
  Identity,
  IssuedKey,
  PackAmounts,
  Recovery,
  Settlement,
  UnkeyedRequest,
  Violation,
} from './types.js';

export interface Ledger {
  readonly recovery: Recovery;
  readonly accounts: AccountLedger;
  readonly keys: KeyLedger;
  readonly credits: CreditLedger;
  readonly holds: HoldLedger;
  readonly idempotency: IdempotencyLedger;
  readonly jobs: JobLedger;
  readonly webhooks: WebhookLedger;
  /** Transcripts that accounts chose to keep. */
  readonly transcripts: TranscriptLedger;
  /** Signing in to the dashboard. */
  readonly access: AccountAccess;
  readonly history: AccountHistory;
  /** What operators do with accounts. */
  readonly administration: AccountAdministration;
  readonly operators: OperatorLog;

  /** The invariants that do not hold; empty when the ledger balances. */
  audit(): Promise<Violation[]>;
  /** Throws when the database cannot be written; a success counts for the next second. */
  checkWritable(): Promise<void>;
  /** Ends calls that still wait. A server's holds are released, here or by the next start. */
  close(): Promise<void>;
}

export interface AccountLedger {
  /** Throws `invalid_request` for a bad email address or one that is taken, or a bad name. */
  create(input: { email: string; name?: string | null }): Promise<Account>;
  /**
   * Account, credits and keys (in their order), unless there is an account or was one: then null, and nothing is made.
   */
  createFirst(input: FirstAccount): Promise<IssuedKey[] | null>;
  find(email: string): Promise<Account | null>;
  list(): Promise<Account[]>;
}

export interface KeyLedger {
  /** Throws `invalid_request` for a bad name or unknown scope, `account_not_found`. */
  create(input: { accountId: string; name: string; scopes: string[] }): Promise<IssuedKey>;
  list(accountId: string): Promise<ApiKey[]>;
  /** First revocation time; null when the account has no such key. */
  revoke(accountId: string, keyId: string): Promise<{ id: string; revokedAt: string } | null>;
  /** null: unknown or revoked. Throws `account_suspended`. */
  authenticate(rawKey: string): Promise<Identity | null>;
  /**
   * A key for so many seconds, which ends sooner if the key `keyId` is revoked. It is not stored: `session`, of at most
   * 4000 bytes, is written into it and comes back when it is used. Throws `invalid_request`.
   */
  createEphemeral(input: { keyId: string; seconds: number; session: string | null }): Promise<EphemeralKey>;
  /** null: unknown, expired, or the key that made it was revoked. Throws `account_suspended`. */
  authenticateEphemeral(rawKey: string): Promise<EphemeralIdentity | null>;
  /**
   * Ids, out of those given, of keys that may not be used any more: revoked by now (the CLI may have), or of a
   * suspended account.
   */
  revokedAmong(keyIds: readonly string[]): Promise<string[]>;
  /**
   * Calls `listener` with the id of each key that is revoked from now on: by this ledger, and by others where the
   * database passes it on. A caller that must not miss one polls revokedAmong() as well. Returns a function that ends
   * it.
   */
  onRevoked(listener: (keyId: string) => void): () => void;
}

export interface CreditLedger {
  /**
   * Throws `invalid_request`, `account_not_found`, or `idempotency_conflict` when the payment was another account's or
   * of another amount; the expiry of the first call stays.
   */
  grant(input: Grant): Promise<GrantedPack>;
  balance(accountId: string): Promise<Balance>;
  /** Those that hold credits, in the order in which they are spent; then the newest `emptyOnes` of the others. */
  packs(accountId: string, emptyOnes: number): Promise<(CreditPack & PackAmounts)[]>;
}

export interface HoldLedger {
  state(accountId: string): Promise<AccountState>;
  /**
   * Throws `insufficient_credits`, `rate_limited` when the account has `mostInFlight` already, or `invalid_api_key` if
   * the key was revoked, or the account suspended, meanwhile.
   */
  place(request: HoldRequest): Promise<Hold>;
  /**
   * Usage row + spend + idempotency record in one transaction. Throws `invalid_api_key` if the key was revoked, or the
   * account suspended, meanwhile, unless something was delivered; of a deleted account always. Whenever it throws,
   * nothing has changed and the hold is to be released.
   */
  settle(holdId: string, settlement: Settlement): Promise<Charge>;
  /**
   * Idempotent; does nothing to a settled hold. Never waits: when the database cannot be written now, it is done as
   * soon as it can.
   */
  release(holdId: string): Promise<void>;
}

export interface IdempotencyLedger {
  begin(input: { accountId: string; key: string; fingerprint: string }): Promise<IdempotencyState>;
  /** Whether a request with this key is running, or its answer is stored. */
  has(accountId: string, key: string): Promise<boolean>;
  /**
   * The answer of the same request of the last ten minutes that was not delivered, or with `retried` any of its
   * answers; else a new record. `busy`: tokens of answers that are on their way just now, which are left alone.
   */
  beginDerived(request: UnkeyedRequest, busy: readonly string[]): Promise<DerivedState>;
  /** Whether a request of the account without a key could get a stored answer. */
  mayBeRepeated(accountId: string, retried: boolean): Promise<boolean>;
  /** Whether the answer of a settled record has reached its client; like a release, it is done as soon as it can be. */
  noteDelivery(token: string, delivered: boolean): Promise<void>;
  /** Deletes a 'new' record whose request failed; like a release, it is done as soon as it can be. */
  abandon(token: string): Promise<void>;
}
