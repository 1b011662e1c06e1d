import type Database from 'better-sqlite3';
import { systemTimers, type Timer, type Timers } from '../../timers.js';
import { Accounts } from './accounts.js';
import { ApiKeys } from './api-keys.js';
import { audit, type Violation } from './audit.js';
import { Credits } from './credits.js';
import { isTrouble, openDatabase } from './database.js';
import { withoutFsync } from './durability.js';
import { Holds } from './holds.js';
import { Idempotency } from './idempotency.js';
import { Instances } from './instances.js';
import { loadSecret } from './secret.js';
import type { Clock } from '../time.js';
import type {
  Account,
  ApiKey,
  Balance,
  CreatedKey,
  CreditPack,
  Hold,
  IdempotencyState,
  Identity,
  Ledger,
  Recovery,
  Settlement,
  UsageReport,
} from '../types.js';
import { Usage } from './usage.js';

/** How often a server writes keys' last uses, deletes old answers and looks for dead servers. */
const HOUSEKEEPING_MS = 5_000;
/** How long a successful write answers for the next ones: /readyz needs no key, so anyone may call it. */
const WRITABLE_FOR_MS = 1_000;

export interface LedgerOptions {
  /** The database file; made with its directory when missing. */
  path: string;
  /** VERBATIM_SECRET; without it a file beside the database holds the secret. */
  secret?: string | null;
  clock?: Clock;
  timers?: Timers;
  /** How long a write waits for another process's transaction; 5 s. */
  busyTimeoutMs?: number;
  /** Hears of housekeeping that failed and will be tried again. */
  onError?: (error: unknown) => void;
}

/** For administration beside a running server: registers no server, releases nothing, can hold no credits. */
export function openLedger(options: LedgerOptions): Ledger {
  return new SqliteLedger(options);
}

/** For a server: gives back what dead servers held, and keeps what this one holds from others until close(). */
export function createLedger(options: LedgerOptions): Ledger {
  const ledger = new SqliteLedger(options);
  try {
    ledger.startInstance(options.timers ?? systemTimers);
  } catch (error) {
    ledger.close();
    throw error;
  }
  return ledger;
}

class SqliteLedger implements Ledger {
  readonly #database: Database.Database;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #secret: () => Buffer;
  readonly #accounts: Accounts;
  readonly #keys: ApiKeys;
  readonly #credits: Credits;
  readonly #holds: Holds;
  readonly #usage: Usage;
  readonly #idempotency: Idempotency;
  readonly #instances: Instances;
  readonly #recovery = { holds: 0, credits: 0, idempotencyRecords: 0 };
  /** What could not be undone when it should have been. */
  readonly #owed: (() => void)[] = [];
  #timer: Timer | null = null;
  #writableUntil = -Infinity;

  constructor(options: LedgerOptions) {
    const database = openDatabase(options.path, options.busyTimeoutMs);
    const clock = options.clock ?? Date.now;
    let secret: Buffer | null = null;
    this.#database = database;
    this.#clock = clock;
    this.#onError = options.onError ?? (() => undefined);
    // Lazy: listing accounts or revoking a key works without the secret.
    this.#secret = () => (secret ??= loadSecret(database, options.secret ?? null));
    this.#accounts = new Accounts(database, clock);
    this.#keys = new ApiKeys(database, this.#secret, clock);
    this.#credits = new Credits(database, clock);
    this.#holds = new Holds(database, this.#credits, clock);
    this.#usage = new Usage(database, clock);
    this.#idempotency = new Idempotency(database, clock);
    this.#instances = new Instances(database, clock);
  }

  get recovery(): Recovery {
    return { ...this.#recovery };
  }

  startInstance(timers: Timers): void {
    this.#secret();
    this.transaction(() => {
      this.#instances.reap((id) => this.#bury(id));
      this.#instances.register();
    });
    this.#timer = timers.every(HOUSEKEEPING_MS, () => this.#keepHouse());
  }

  transaction<T>(work: () => T): T {
    return this.#database.transaction(work).immediate();
  }

  createAccount(input: { email: string; name?: string | null }): Account {
    return this.#accounts.create(input);
  }

  findAccount(email: string): Account | null {
    return this.#accounts.find(email);
  }

  listAccounts(): Account[] {
    return this.#accounts.list();
  }

  createKey(input: { accountId: string; name: string; scopes: string[] }): CreatedKey {
    return this.#keys.create(input);
  }

  listKeys(accountId: string): ApiKey[] {
    return this.#keys.list(accountId);
  }

  revokeKey(accountId: string, keyId: string): { id: string; revokedAt: string } | null {
    return this.#keys.revoke(accountId, keyId);
  }

  authenticate(rawKey: string): Identity | null {
    return this.#keys.authenticate(rawKey);
  }

  revokedAmong(keyIds: readonly string[]): string[] {
    return this.#keys.revokedAmong(keyIds);
  }

  grantCredits(input: { accountId: string; amount: number; expiresAt?: string | null }): CreditPack {
    return this.#credits.grant(input);
  }

  balance(accountId: string): Balance {
    return this.#credits.balance(accountId);
  }

  hold(input: { accountId: string; keyId: string; requestId: string; credits: number }): Hold {
    const instance = this.#instances.id;
    return this.#passing(() => this.#holds.place(input, instance));
  }

  settle(
    holdId: string,
    settlement: Settlement,
  ): { creditsUsed: number; creditsRemaining: number; body: string } {
    return this.transaction(() => {
      const hold = this.#holds.settle(holdId, settlement.credits);
      this.#usage.record(hold, settlement);
      const creditsRemaining = this.#credits.balance(hold.account_id).balance;
      const body = settlement.response(creditsRemaining);
      const token = settlement.idempotencyToken;
      if (token !== undefined) this.#idempotency.complete(token, hold, body);
      return { creditsUsed: settlement.credits, creditsRemaining, body };
    });
  }

  release(holdId: string): void {
    this.#undo(() => this.#passing(() => this.#holds.release(holdId)));
  }

  beginIdempotent(input: { accountId: string; key: string; fingerprint: string }): IdempotencyState {
    const instance = this.#instances.id;
    return this.#passing(() => this.#idempotency.begin(input, instance));
  }

  knowsIdempotencyKey(accountId: string, key: string): boolean {
    return this.#idempotency.knows(accountId, key);
  }

  abandonIdempotent(token: string): void {
    this.#undo(() => this.#passing(() => this.#idempotency.abandon(token)));
  }

  usage(accountId: string, days: number): UsageReport {
    return this.#usage.report(accountId, days);
  }

  audit(): Violation[] {
    return audit(this.#database);
  }

  checkWritable(): void {
    const now = performance.now();
    if (now < this.#writableUntil) return;
    this.#database
      .prepare('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)')
      .run('written_at', this.#clock());
    this.#writableUntil = now + WRITABLE_FOR_MS;
  }

  close(): void {
    if (!this.#database.open) return;
    this.#timer?.cancel();
    try {
      this.#keys.flushLastUsed();
      this.transaction(() => this.#instances.unregister((id) => this.#bury(id)));
    } catch (error) {
      this.#onError(error); // the next start finds this server dead and does the same
    } finally {
      this.#instances.drop();
      this.#database.close();
    }
  }

  /** A transaction of what the next start would undo, so that it need not be on the disk. */
  #passing<T>(work: () => T): T {
    return withoutFsync(this.#database, () => this.transaction(work));
  }

  #bury(instance: string): void {
    const { holds, credits } = this.#holds.releaseAllOf(instance);
    this.#recovery.holds += holds;
    this.#recovery.credits += credits;
    this.#recovery.idempotencyRecords += this.#idempotency.dropRunningOf(instance);
  }

  /** A failed request must not keep its credits because the disk was full just then: it is tried again. */
  #undo(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!isTrouble(error)) throw error;
      this.#owed.push(work);
      this.#onError(error);
    }
  }

  #undoOwed(): void {
    for (let work = this.#owed[0]; work !== undefined; work = this.#owed[0]) {
      work();
      this.#owed.shift();
    }
  }

  #keepHouse(): void {
    try {
      this.#undoOwed();
      this.#keys.flushLastUsed();
      while (this.#idempotency.sweep());
      if (this.#instances.hasOthers()) this.transaction(() => this.#instances.reap((id) => this.#bury(id)));
    } catch (error) {
      this.#onError(error);
    }
  }
}
