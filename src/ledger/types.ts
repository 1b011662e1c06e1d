/** The values of the ledger's interface. Money is integers. */
import type { JsonText, JsonValue } from './json.js';

/** 'user': an account that sees itself only; 'operator': one that sees all of the service. */
export const ROLES = ['user', 'operator'] as const;
export type Role = (typeof ROLES)[number];

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

/** A key for a short time, which another one makes. */
export interface EphemeralKey {
  rawKey: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** Of the key that made the ephemeral one. */
export interface EphemeralIdentity extends Identity {
  /** What its maker wrote into it. */
  session: string | null;
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
  /** The seller's id of the payment; null: unknown. */
  paymentId: string | null;
  /** The operator's; null: none. */
  note: string | null;
}

export interface Grant {
  accountId: string;
  amount: number;
  /** An ISO 8601 date (its first moment, UTC) or date and time, to come. */
  expiresAt?: string | null;
  /** 1 to 255 printable characters without spaces; one payment grants one pack, however often it is sent. */
  paymentId?: string | null;
  /** Why it is granted: 1 to 200 characters without controls. Erased with the account. */
  note?: string | null;
}

export interface GrantedPack extends CreditPack {
  /** It is of an earlier call with the same payment; nothing was added. */
  repeated: boolean;
}

/** Where a pack's credits are; they sum to the purchased ones. */
export interface PackAmounts {
  remaining: number;
  held: number;
  spent: number;
  expired: number;
}

/** What of an account decides whether a new request gets its hold. */
export interface AccountState {
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
  /** Of the uploaded file, 1 to 255 characters; null, the default: it has none. */
  fileName?: string | null;
  /** Requests of the account that may have a hold at a time, this one among them; default: any number. */
  mostInFlight?: number;
}

export interface Hold {
  id: string;
  credits: number;
}

/** The credits that were charged, and those that are left. */
export interface Charge {
  creditsUsed: number;
  creditsRemaining: number;
}

/** An answer kept under its Idempotency-Key. */
export type StoredAnswer =
  | { kind: 'result'; result: JsonValue; charge: Charge }
  /** The body as version 0.1.0 rendered it, before results were stored. */
  | { kind: 'body'; body: string }
  /** Of a job that was accepted. */
  | { kind: 'job'; ticket: JsonValue };

/** How begin() found an Idempotency-Key. 'deleted': its answer was, with the transcript. */
export type IdempotencyState =
  | { state: 'new'; token: string }
  | { state: 'replay'; answer: StoredAnswer }
  | { state: 'conflict'; reason: 'different_request' | 'still_running' | 'deleted' };

/** A request that came without an Idempotency-Key, whose client may repeat it unasked. */
export interface UnkeyedRequest {
  accountId: string;
  /** Of the audio and all fields. */
  fingerprint: string;
  /** The client says that it is a repeat. */
  retried: boolean;
}

/** How beginDerived() found it; the token is of the record that its answer is, or will be, stored in. */
export type DerivedState = { state: 'new'; token: string } | { state: 'replay'; token: string; answer: StoredAnswer };

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
  /** The name of the speech model; null: nobody knows. */
  model: string | null;
  /** Some of the answer has been delivered already: it is charged though the key was revoked since. Default: no. */
  delivered?: boolean;
  /** Token of a 'new' record, of a given key or a derived one, completed in the same transaction. */
  idempotencyToken?: string;
  /** The work's result, stored with the idempotency record for a repeat. */
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
