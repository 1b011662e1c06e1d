import type Database from 'better-sqlite3';
import { systemTimers, type Timer, type Timers } from '../../timers.js';
import { SqliteAccess } from './access.js';
import { SqliteAdministration } from './administration.js';
import { audit } from './audit.js';
import { BUSY_TIMEOUT_MS, openDatabase } from './database.js';
import { withoutFsync } from './durability.js';
import { SqliteHistory } from './history.js';
import { SqliteJobs } from './jobs.js';
import { DurableCommits } from './durable-commits.js';
import { LockWait } from './lock-wait.js';
import { SqliteOperatorLog } from './operators.js';
import { DeferredUndo } from './deferred-undo.js';
import { ErasedPages } from './erased-pages.js';
import { Reversals } from './reversals.js';
import { loadSecret } from './secret.js';
import { LogSync, type SyncFile } from './log-sync.js';
import type { Transactions } from './transactions.js';
import { WebhookEvents } from './webhook-events.js';
import type { WallClock } from '../time.js';
import type { AccountLedger, CreditLedger, HoldLedger, IdempotencyLedger, KeyLedger, Ledger } from '../ledger.js';
import type { Recovery, Violation } from '../types.js';
import {
  accountLedger,
  creditLedger,
  holdLedger,
  idempotencyLedger,
  keyLedger,
  makeTables,
  type Tables,
} from './parts.js';
import { SqliteTranscripts } from './transcripts.js';
import { UnsyncedCharges } from './unsynced-charges.js';

/** How often a server writes keys' last uses, deletes old answers and looks for dead servers. */
const HOUSEKEEPING_MS = 5_000;
/** How long a successful write answers for the next ones: /readyz needs no key, so anyone may call it. */
const WRITABLE_FOR_MS = 1_000;
/** How long a call waits for another process's transaction. Each takes a few milliseconds. */
const SERVER_TIMEOUT_MS = 50;
const ADMINISTRATION_TIMEOUT_MS = 5_000;
/** In close(): no client waits any more, but the operator who stops the server does. */
const CLOSING_TIMEOUT_MS = 1_000;

export interface LedgerOptions {
  /** The database file; made with its directory when missing. */
  path: string;
  /** VERBATIM_SECRET; without it a file beside the database holds the secret. */
  secret?: string | null;
  clock?: WallClock;
  timers?: Timers;
  /**
   * How long a call waits while another process keeps the database locked: 50 ms in a server, 5 s in administration.
   */
  lockTimeoutMs?: number;
  /** Default: fsync(2). */
  syncFile?: SyncFile;
  /** Called with the error of what failed and will be retried. */
  onError?: (error: unknown) => void;
}

/** For administration beside a running server: registers no server, releases nothing, can hold no credits. */
export function openLedger(options: LedgerOptions): Ledger {
  return new SqliteLedger({ lockTimeoutMs: ADMINISTRATION_TIMEOUT_MS, ...options });
}

/** For a server: releases what dead servers held, and keeps what this one holds from others until close(). */
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
  readonly accounts: AccountLedger;
  readonly keys: KeyLedger;
  readonly credits: CreditLedger;
  readonly holds: HoldLedger;
  readonly idempotency: IdempotencyLedger;
  readonly jobs: SqliteJobs;
  readonly webhooks: WebhookEvents;
  readonly transcripts: SqliteTranscripts;
  readonly access: SqliteAccess;
  readonly history: SqliteHistory;
  readonly administration: SqliteAdministration;
  readonly operators: SqliteOperatorLog;
  readonly #database: Database.Database;
  readonly #clock: WallClock;
  readonly #onError: (error: unknown) => void;
  readonly #secret: () => Buffer;
  readonly #tables: Tables;
  readonly #recovery = { holds: 0, credits: 0, idempotencyRecords: 0 };
  readonly #timers: Timers;
  readonly #timeoutMs: number;
  readonly #lockWait: LockWait;
  readonly #deferred: DeferredUndo;
  readonly #log: LogSync;
  readonly #commits: DurableCommits;
  readonly #reversals: Reversals;
  readonly #unsynced: UnsyncedCharges;
  readonly #erased: ErasedPages;
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
    this.#timeoutMs = options.lockTimeoutMs ?? SERVER_TIMEOUT_MS;
    this.#lockWait = new LockWait(this.#timers);
    this.#deferred = new DeferredUndo(this.#timers, this.#onError);
    this.#log = new LogSync(`${database.name}-wal`, options.syncFile);
    this.#commits = new DurableCommits({
      ...{ log: this.#log, timers: this.#timers, onError: this.#onError },
      writeOut: () => this.#writeOut(),
      onRecovered: () => this.#unsynced.remove(this.#tables.instances.id),
    });
    this.#unsynced = new UnsyncedCharges(database.name);
    this.#erased = new ErasedPages(database);
    // Lazy: listing accounts or revoking a key works without the secret.
    this.#secret = () => (secret ??= loadSecret(database, options.secret ?? null));
    const tables = makeTables(database, this.#secret, clock);
    const transactions = this.#transactions();
    this.#tables = tables;
    this.#reversals = new Reversals(database, tables, clock);
    this.accounts = accountLedger(tables, transactions);
    this.keys = keyLedger(tables, transactions);
    this.credits = creditLedger(tables, transactions);
    this.holds = holdLedger(tables, transactions);
    this.idempotency = idempotencyLedger(tables, transactions);
    this.access = new SqliteAccess(database, clock, tables.keys, transactions);
    this.history = new SqliteHistory(database, clock, transactions);
    this.operators = new SqliteOperatorLog(database, clock, transactions);
    this.webhooks = new WebhookEvents(database, { instances: tables.instances, transactions, clock });
    this.jobs = new SqliteJobs(database, { ...tables, events: this.webhooks, transactions, clock });
    const onErased = this.#erased.note;
    this.transcripts = new SqliteTranscripts(database, { transactions, clock, onErased });
    this.administration = new SqliteAdministration(database, {
      ...{ ...tables, access: this.access, transcripts: this.transcripts, transactions, clock, onErased },
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
      for (const unknown of this.#unsyncedOfUnknown()) this.#reverseUnsynced(unknown, null);
      this.#tables.instances.releaseDead((id) => this.#releaseAllOf(id));
      this.#tables.instances.register();
    });
    this.#removeUnsynced();
    this.#database.pragma('busy_timeout = 0');
    this.#timer = this.#timers.every(HOUSEKEEPING_MS, () => this.#runHousekeeping());
  }

  audit(): Promise<Violation[]> {
    return this.#onceUnlocked(() => [
      ...audit(this.#database),
      ...this.#unsynced
        .instances()
        .flatMap((instance) => this.#unsynced.of(instance))
        .filter((charge) => this.#reversals.stands(charge))
        .map(({ id }) => ({ invariant: 'no charge stands that the disk did not take', detail: `hold ${id}` })),
    ]);
  }

  async checkWritable(): Promise<void> {
    this.#commits.refuseWhileFailing();
    const now = performance.now();
    if (now < this.#writableUntil) return;
    await this.#onceUnlocked(() =>
      this.#database
        .prepare('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)')
        .run('written_at', this.#clock()),
    );
    this.#writableUntil = now + WRITABLE_FOR_MS;
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#deferred.end();
    this.#commits.end();
    await this.#lockWait.end();
    if (!this.#database.open) return;
    try {
      await new LockWait(this.#timers).run(() => this.#leave(), CLOSING_TIMEOUT_MS);
    } catch (error) {
      this.#onError(error); // the next start finds this server dead and does the same
    } finally {
      this.abandon();
    }
  }

  /** Closes the files, and leaves the ledger to the next start. */
  abandon(): void {
    this.#timer?.cancel();
    this.#tables.instances.drop();
    this.#database.close();
    this.#log.close();
  }

  #leave(): void {
    if (!this.#database.open) return; // closed twice
    this.#tables.keys.flushLastUsed();
    this.#transaction(() => this.#tables.instances.unregister((id) => this.#releaseAllOf(id)));
    this.#removeUnsynced();
    this.#erased.sweep();
  }

  #transactions(): Transactions {
    const commits = this.#commits;
    return {
      read: (work) => this.#onceUnlocked(work),
      atomic: (work) =>
        this.#onceUnlocked(() => {
          commits.refuseWhileFailing();
          return this.#transaction(work);
        }),
      write: (work, undo) =>
        commits.commit(
          () => this.#onceUnlocked(() => this.#passing(work)),
          (done) => (undo === undefined ? Promise.resolve() : this.#takeBack(() => undo(done))),
        ),
      passing: (work) => this.#onceUnlocked(() => this.#passing(work)),
      settle: (work) => commits.commitUntilSynced(() => this.#whenUnlocked(work)),
      charge: async (work) => {
        const { value } = await commits.commit(
          () => this.#whenUnlocked(work),
          ({ holdId }) => this.#reverse(holdId),
        );
        return value;
      },
      undo: (work) => this.#onceUnlocked(() => this.#deferred.undo(() => this.#passing(work))),
      confirmed: async (run, work, isResult) => {
        const seen = { mayBeUndone: false };
        const value = await run(() => {
          const found = work();
          seen.mayBeUndone = commits.hasUnsynced && isResult(found);
          return found;
        });
        if (seen.mayBeUndone) await commits.confirm();
        return value;
      },
      refuseWhileFailing: () => commits.refuseWhileFailing(),
      isFailing: () => commits.isFailing,
    };
  }

  #onceUnlocked<T>(work: () => T): Promise<T> {
    return this.#lockWait.run(work, this.#timeoutMs);
  }

  #transaction<T>(work: () => T): T {
    return this.#database.transaction(work).immediate();
  }

  /** A transaction that the next start would undo, so it need not be on the disk. */
  #passing<T>(work: () => T): T {
    return withoutFsync(this.#database, () => this.#transaction(work));
  }

  #whenUnlocked<T>(work: () => T): Promise<T> {
    return this.#lockWait.run(() => this.#passing(work), Infinity);
  }

  /** Of a charge that the disk did not take. What cannot be written now is reversed with the disk's recovery. */
  async #reverse(holdId: number | null): Promise<void> {
    const charge = holdId === null ? null : this.#reversals.settledHold(holdId);
    if (charge === null) return;
    const instance = this.#tables.instances.id;
    this.#unsynced.add(instance, charge, this.#onError);
    await this.#takeBack(() => this.#reversals.reverse(charge, instance));
  }

  async #takeBack(work: () => void): Promise<void> {
    await this.#whenUnlocked(work).catch(this.#onError);
  }

  /** Afterwards no power cut takes anything back. */
  #writeOut(): void {
    const { instances } = this.#tables;
    this.#passing(() => this.#reverseUnsynced(instances.id));
    if (this.#erased.emptyLog()) return;
    throw new Error('The log cannot be written into the database while another process reads it.');
  }

  #reverseUnsynced(instance: string, worker: string | null = instance): void {
    for (const charge of this.#unsynced.of(instance)) this.#count(this.#reversals.reverse(charge, worker));
  }

  #count(credits: number | null): void {
    if (credits === null) return;
    this.#recovery.holds += 1;
    this.#recovery.credits += credits;
  }

  /** Of servers that are gone: the reversals of their charges are on the disk. */
  #removeUnsynced(): void {
    for (const instance of this.#unsyncedOfUnknown()) this.#unsynced.remove(instance);
  }

  #unsyncedOfUnknown(): string[] {
    const known = this.#tables.instances.all();
    return this.#unsynced.instances().filter((instance) => !known.includes(instance));
  }

  #releaseAllOf(instance: string): void {
    this.#reverseUnsynced(instance);
    const { holds, credits } = this.#tables.holds.releaseAllOf(instance);
    this.#recovery.holds += holds;
    this.#recovery.credits += credits;
    this.#recovery.idempotencyRecords += this.#tables.idempotency.dropRunningOf(instance);
    this.jobs.giveUpAllOf(instance);
    this.webhooks.giveUpAllOf(instance);
  }

  #runHousekeeping(): void {
    try {
      withoutFsync(this.#database, () => this.#tables.keys.flushLastUsed());
      while (this.#tables.idempotency.sweep());
      this.access.sweep();
      this.administration.sweep((work) => this.#transaction(work));
      this.transcripts.sweep((work) => this.#transaction(work));
      this.#erased.sweep();
      if (!this.#tables.instances.hasOthers()) return;
      this.#transaction(() => this.#tables.instances.releaseDead((id) => this.#releaseAllOf(id)));
      this.#removeUnsynced();
    } catch (error) {
      this.#onError(error);
    }
  }
}
