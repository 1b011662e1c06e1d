import type Database from 'better-sqlite3';
import { systemTimers, type Timer, type Timers } from '../../timers.js';
import { SqliteAccess } from './access.js';
import { SqliteAdministration } from './administration.js';
import { Accounts } from './accounts.js';
import { ApiKeys } from './api-keys.js';
import { audit } from './audit.js';
import { Credits } from './credits.js';
import { BUSY_TIMEOUT_MS, openDatabase } from './database.js';
import { withoutFsync } from './durability.js';
import { SqliteHistory } from './history.js';
import { Holds } from './holds.js';
import { Idempotency } from './idempotency.js';
import { Instances } from './instances.js';
import { SqliteJobs } from './jobs.js';
import { LockWait } from './lock-wait.js';
import { SqliteOperatorLog } from './operators.js';
import { Owed } from './owed.js';
import { loadSecret } from './secret.js';
import { LogSync, type SyncFile } from './log-sync.js';
import type { Transactions } from './transactions.js';
import { WebhookEvents } from './webhook-events.js';
import type { WallClock } from '../time.js';
import type {
  Account,
  ApiKey,
  Balance,
  Charge,
  IssuedKey,
  CreditPack,
  DerivedState,
  FirstAccount,
  Grant,
  GrantedPack,
  Hold,
  HoldRequest,
  IdempotencyState,
  Identity,
  Ledger,
  PackAmounts,
  Recovery,
  Settlement,
  Standing,
  UnkeyedRequest,
  UsageReport,
  Violation,
} from '../types.js';
import { UsageRecords } from './usage.js';

/** How often a server writes keys' last uses, deletes old answers and looks for dead servers. */
const HOUSEKEEPING_MS = 5_000;
/** How long a successful write answers for the next ones: /readyz needs no key, so anyone may call it. */
const WRITABLE_FOR_MS = 1_000;
/** How long a call waits for another process's transaction, all of which are a few milliseconds long. */
const SERVER_PATIENCE_MS = 50;
const ADMINISTRATION_PATIENCE_MS = 5_000;
/** At the end nobody waits for an answer, but whoever stops the server does. */
const CLOSING_PATIENCE_MS = 1_000;

export interface LedgerOptions {
  /** The database file; made with its directory when missing. */
  path: string;
  /** VERBATIM_SECRET; without it a file beside the database holds the secret. */
  secret?: string | null;
  clock?: WallClock;
  timers?: Timers;
  /** How long a call waits while another process keeps the database locked: 50 ms in a server, 5 s in administration. */
  lockPatienceMs?: number;
  /** Default: fsync(2). */
  syncFile?: SyncFile;
  /** Hears of what failed and will be tried again. */
  onError?: (error: unknown) => void;
}

/** For administration beside a running server: registers no server, releases nothing, can hold no credits. */
export function openLedger(options: LedgerOptions): Ledger {
  return new SqliteLedger({ lockPatienceMs: ADMINISTRATION_PATIENCE_MS, ...options });
}

/** For a server: gives back what dead servers held, and keeps what this one holds from others until close(). */
export function createLedger(options: LedgerOptions): Ledger {
  const ledger = new SqliteLedger(options);
  try {
    ledger.startInstance();
  } catch (error) {
    ledger.abandon();
    throw error;
  }
  return ledger;
}

/** Every call is one synchronous piece of work on the database, so that nothing comes between its statements. */
class SqliteLedger implements Ledger {
  readonly jobs: SqliteJobs;
  readonly webhooks: WebhookEvents;
  readonly access: SqliteAccess;
  readonly history: SqliteHistory;
  readonly administration: SqliteAdministration;
  readonly operators: SqliteOperatorLog;
  readonly #database: Database.Database;
  readonly #clock: WallClock;
  readonly #onError: (error: unknown) => void;
  readonly #secret: () => Buffer;
  readonly #accounts: Accounts;
  readonly #keys: ApiKeys;
  readonly #credits: Credits;
  readonly #holds: Holds;
  readonly #usage: UsageRecords;
  readonly #idempotency: Idempotency;
  readonly #instances: Instances;
  readonly #recovery = { holds: 0, credits: 0, idempotencyRecords: 0 };
  readonly #timers: Timers;
  readonly #patienceMs: number;
  readonly #lockWait: LockWait;
  readonly #owed: Owed;
  readonly #log: LogSync;
  readonly #toldOfRevocations = new Set<(keyId: string) => void>();
  #timer: Timer | null = null;
  #writableUntil = -Infinity;

  constructor(options: LedgerOptions) {
    const database = openDatabase(options.path);
    const clock = options.clock ?? Date.now;
    let secret: Buffer | null = null;
    this.#database = database;
    this.#clock = clock;
    this.#onError = options.onError ?? (() => undefined);
    this.#timers = options.timers ?? systemTimers;
    this.#patienceMs = options.lockPatienceMs ?? SERVER_PATIENCE_MS;
    this.#lockWait = new LockWait(this.#timers);
    this.#owed = new Owed(this.#timers, this.#onError);
    this.#log = new LogSync(`${database.name}-wal`, options.syncFile);
    // Lazy: listing accounts or revoking a key works without the secret.
    this.#secret = () => (secret ??= loadSecret(database, options.secret ?? null));
    this.#accounts = new Accounts(database, clock);
    this.#keys = new ApiKeys(database, this.#secret, clock);
    this.#credits = new Credits(database, clock);
    this.#holds = new Holds(database, this.#credits, clock);
    this.#usage = new UsageRecords(database, clock);
    this.#idempotency = new Idempotency(database, clock);
    this.#instances = new Instances(database, clock);
    const transactions: Transactions = {
      read: (work) => this.#patiently(work),
      write: (work) => this.#onDisk(this.#patiently(() => this.#passing(work))),
      passing: (work) => this.#patiently(() => this.#passing(work)),
      settle: (work) => this.#untilSettled(work),
    };
    const instances = this.#instances;
    this.access = new SqliteAccess(database, clock, this.#keys, transactions);
    this.history = new SqliteHistory(database, clock, transactions);
    this.operators = new SqliteOperatorLog(database, clock, transactions);
    this.webhooks = new WebhookEvents(database, { instances, transactions, clock });
    this.jobs = new SqliteJobs(database, {
      credits: this.#credits,
      holds: this.#holds,
      usage: this.#usage,
      idempotency: this.#idempotency,
      events: this.webhooks,
      ...{ instances, transactions, clock },
    });
    this.administration = new SqliteAdministration(database, {
      ...{ keys: this.#keys, credits: this.#credits, holds: this.#holds, access: this.access },
      ...{ transactions, clock },
    });
    // Others may be served from now on: LockWait waits, not SQLite.
    database.pragma('busy_timeout = 0');
  }

  get recovery(): Recovery {
    return { ...this.#recovery };
  }

  startInstance(): void {
    this.#database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    this.#secret();
    this.#transaction(() => {
      this.#instances.reap((id) => this.#bury(id));
      this.#instances.register();
    });
    this.#database.pragma('busy_timeout = 0');
    this.#timer = this.#timers.every(HOUSEKEEPING_MS, () => this.#keepHouse());
  }

  createAccount(input: { email: string; name?: string | null }): Promise<Account> {
    return this.#patiently(() => this.#accounts.create(input));
  }

  createFirstAccount({ email, name, role, credits, keys }: FirstAccount): Promise<IssuedKey[] | null> {
    return this.#patiently(() =>
      this.#transaction(() => {
        if (this.#accounts.hasAny()) return null;
        const { id: accountId } = this.#accounts.create({ email, name, role });
        this.#credits.grant({ accountId, amount: credits });
        return keys.map((key) => this.#keys.create({ accountId, ...key }));
      }),
    );
  }

  findAccount(email: string): Promise<Account | null> {
    return this.#patiently(() => this.#accounts.find(email));
  }

  listAccounts(): Promise<Account[]> {
    return this.#patiently(() => this.#accounts.list());
  }

  createKey(input: { accountId: string; name: string; scopes: string[] }): Promise<IssuedKey> {
    return this.#patiently(() => this.#keys.create(input));
  }

  listKeys(accountId: string): Promise<ApiKey[]> {
    return this.#patiently(() => this.#keys.list(accountId));
  }

  async revokeKey(accountId: string, keyId: string): Promise<{ id: string; revokedAt: string } | null> {
    const revoked = await this.#patiently(() => this.#keys.revoke(accountId, keyId));
    if (revoked !== null) for (const tell of this.#toldOfRevocations) tell(keyId);
    return revoked;
  }

  onRevoked(tell: (keyId: string) => void): () => void {
    this.#toldOfRevocations.add(tell);
    return () => void this.#toldOfRevocations.delete(tell);
  }

  authenticate(rawKey: string): Promise<Identity | null> {
    return this.#patiently(() => this.#keys.authenticate(rawKey));
  }

  revokedAmong(keyIds: readonly string[]): Promise<string[]> {
    return this.#patiently(() => this.#keys.revokedAmong(keyIds));
  }

  grantCredits(grant: Grant): Promise<GrantedPack> {
    return this.#patiently(() => this.#transaction(() => this.#credits.grant(grant)));
  }

  balance(accountId: string): Promise<Balance> {
    return this.#patiently(() => this.#credits.balance(accountId));
  }

  standing(accountId: string): Promise<Standing> {
    return this.#patiently(() => {
      const { balance } = this.#credits.balance(accountId);
      return { balance, inFlight: this.#holds.countOfRequests(accountId) };
    });
  }

  listPacks(accountId: string, emptyOnes: number): Promise<(CreditPack & PackAmounts)[]> {
    return this.#patiently(() => this.#credits.list(accountId, emptyOnes));
  }

  hold(request: HoldRequest): Promise<Hold> {
    return this.#patiently(() =>
      this.#passing(() => this.#holds.place(request, { instanceId: this.#instances.id })),
    );
  }

  settle(holdId: string, settlement: Settlement): Promise<Charge> {
    return this.#untilSettled(() => {
      const { credits, delivered = false } = settlement;
      const hold = this.#holds.settle(holdId, credits, { evenIfRevoked: delivered });
      this.#usage.record(hold, settlement);
      const creditsRemaining = this.#credits.balance(hold.account_id).balance;
      const { idempotencyToken: token, result } = settlement;
      if (token !== undefined) this.#idempotency.complete(token, hold, { result, creditsRemaining });
      return { creditsUsed: settlement.credits, creditsRemaining };
    });
  }

  release(holdId: string): Promise<void> {
    return this.#undo(() => this.#holds.release(holdId));
  }

  beginIdempotent(input: { accountId: string; key: string; fingerprint: string }): Promise<IdempotencyState> {
    return this.#patiently(() => this.#passing(() => this.#idempotency.begin(input, this.#instances.id)));
  }

  knowsIdempotencyKey(accountId: string, key: string): Promise<boolean> {
    return this.#patiently(() => this.#idempotency.knows(accountId, key));
  }

  beginDerived(request: UnkeyedRequest, busy: readonly string[]): Promise<DerivedState> {
    return this.#patiently(() =>
      this.#passing(() => this.#idempotency.beginDerived(request, busy, this.#instances.id)),
    );
  }

  mayBeRepeated(accountId: string, retried: boolean): Promise<boolean> {
    return this.#patiently(() => this.#idempotency.mayBeRepeated(accountId, retried));
  }

  noteDelivery(token: string, delivered: boolean): Promise<void> {
    return this.#undo(() => this.#idempotency.noteDelivery(token, delivered));
  }

  abandonIdempotent(token: string): Promise<void> {
    return this.#undo(() => this.#idempotency.abandon(token));
  }

  usage(accountId: string, days: number): Promise<UsageReport> {
    return this.#patiently(() => this.#usage.report(accountId, days));
  }

  audit(): Promise<Violation[]> {
    return this.#patiently(() => audit(this.#database));
  }

  async checkWritable(): Promise<void> {
    const now = performance.now();
    if (now < this.#writableUntil) return;
    await this.#patiently(() =>
      this.#database
        .prepare('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)')
        .run('written_at', this.#clock()),
    );
    this.#writableUntil = now + WRITABLE_FOR_MS;
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#owed.end();
    await this.#lockWait.end();
    if (!this.#database.open) return;
    try {
      await new LockWait(this.#timers).run(() => this.#leave(), CLOSING_PATIENCE_MS);
    } catch (error) {
      this.#onError(error); // the next start finds this server dead and does the same
    } finally {
      this.abandon();
    }
  }

  /** Lets go of the files, and leaves the books to the next start. */
  abandon(): void {
    this.#timer?.cancel();
    this.#instances.drop();
    this.#database.close();
    this.#log.close();
  }

  #leave(): void {
    if (!this.#database.open) return; // closed twice
    this.#keys.flushLastUsed();
    this.#transaction(() => this.#instances.unregister((id) => this.#bury(id)));
  }

  #patiently<T>(work: () => T): Promise<T> {
    return this.#lockWait.run(work, this.#patienceMs);
  }

  #transaction<T>(work: () => T): T {
    return this.#database.transaction(work).immediate();
  }

  /** A transaction of what the next start would undo, so that it need not be on the disk. */
  #passing<T>(work: () => T): T {
    return withoutFsync(this.#database, () => this.#transaction(work));
  }

  #untilSettled<T>(work: () => T): Promise<T> {
    return this.#onDisk(this.#lockWait.run(() => this.#passing(work), Infinity));
  }

  /** Its caller is told when it is on the disk; meanwhile others are served. */
  async #onDisk<T>(committed: Promise<T>): Promise<T> {
    const done = await committed;
    // What is written stands, and so does the answer to it: a disk that fails here may lose it, and no more than that.
    await this.#log.synced().catch(this.#onError);
    return done;
  }

  #undo(work: () => void): Promise<void> {
    return this.#patiently(() => this.#owed.undo(() => this.#passing(work)));
  }

  #bury(instance: string): void {
    const { holds, credits } = this.#holds.releaseAllOf(instance);
    this.#recovery.holds += holds;
    this.#recovery.credits += credits;
    this.#recovery.idempotencyRecords += this.#idempotency.dropRunningOf(instance);
    this.jobs.giveUpAllOf(instance);
    this.webhooks.giveUpAllOf(instance);
  }

  #keepHouse(): void {
    try {
      withoutFsync(this.#database, () => this.#keys.flushLastUsed());
      while (this.#idempotency.sweep());
      this.access.sweep();
      this.administration.sweep((work) => this.#transaction(work));
      if (this.#instances.hasOthers()) this.#transaction(() => this.#instances.reap((id) => this.#bury(id)));
    } catch (error) {
      this.#onError(error);
    }
  }
}
