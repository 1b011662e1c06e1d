import { VerbatimError } from '../../errors.js';
import { systemTimers, type Timer, type Timers } from '../../timers.js';
import type { Ledger } from '../ledger.js';
import type { WallClock } from '../time.js';
import type { Recovery, Violation } from '../types.js';
import { PostgresAccess } from './access.js';
import { PostgresAdministration } from './administration.js';
import { PostgresOperatorLog } from './operators.js';
import { PostgresAccounts } from './accounts.js';
import { PostgresKeys } from './api-keys.js';
import { auditPostgres } from './audit.js';
import { Connections } from './connections.js';
import { PostgresCredits } from './credits.js';
import { DatabaseClock } from './database-clock.js';
import { PostgresHistory } from './history.js';
import { PostgresHolds } from './holds.js';
import { PostgresIdempotency } from './idempotency.js';
import { INSTANCE_LEASE_MS, PostgresInstance } from './instance.js';
import { PostgresJobs } from './jobs.js';
import { isMigrated, migratePostgres } from './migrate.js';
import { PostgresDeferredUndo } from './deferred-undo.js';
import { Revocations } from './revocations.js';
import { verifySecret } from './secret.js';
import { Statements } from './statements.js';
import { PostgresTranscripts } from './transcripts.js';
import { PostgresWebhookEvents } from './webhook-events.js';

/** How often a server renews its lease, writes keys' last uses, deletes old answers and looks for dead servers. */
const HOUSEKEEPING_MS = 5_000;
/** How long a successful write answers for the next ones: /readyz needs no key, so anyone may call it. */
const WRITABLE_FOR_MS = 1_000;
const SERVER_TIMEOUT_MS = 2_000;
const ADMINISTRATION_TIMEOUT_MS = 5_000;
/** For the schema, and for others that start at the same time. */
const OPENING_TIMEOUT_MS = 60_000;
export const DEFAULT_CONNECTIONS = 16;

export interface PostgresOptions {
  /** postgres://… */
  url: string;
  /** VERBATIM_SECRET; null: for what needs none. */
  secret: string | null;
  /** At most; one more listens. */
  connections?: number;
  /** Default: the database's, so that servers whose clocks differ agree on leases. */
  clock?: WallClock;
  timers?: Timers;
  /** How long reads and holds wait: 2 s in a server, 5 s in administration. */
  timeoutMs?: number;
  leaseMs?: number;
  /** Called with the error of what failed and will be retried. */
  onError?: (error: unknown) => void;
}

/** For administration: registers no server, can hold no credits. */
export async function openPostgresLedger(options: PostgresOptions): Promise<PostgresLedger> {
  const ledger = new PostgresLedger({ timeoutMs: ADMINISTRATION_TIMEOUT_MS, ...options });
  await ledger.open({ asServer: false });
  return ledger;
}

/** For a server: keeps its holds from others until close(), or until its lease lapses. */
export async function createPostgresLedger(options: PostgresOptions): Promise<PostgresLedger> {
  const ledger = new PostgresLedger(options);
  await ledger.open({ asServer: true });
  return ledger;
}

export class PostgresLedger implements Ledger {
  readonly accounts: PostgresAccounts;
  readonly keys: PostgresKeys;
  readonly credits: PostgresCredits;
  readonly holds: PostgresHolds;
  readonly idempotency: PostgresIdempotency;
  readonly jobs: PostgresJobs;
  readonly webhooks: PostgresWebhookEvents;
  readonly transcripts: PostgresTranscripts;
  readonly access: PostgresAccess;
  readonly history: PostgresHistory;
  readonly administration: PostgresAdministration;
  readonly operators: PostgresOperatorLog;
  readonly #secretText: string | null;
  readonly #timers: Timers;
  readonly #onError: (error: unknown) => void;
  readonly #connections: Connections;
  readonly #statements: Statements;
  readonly #clock: WallClock;
  readonly #databaseClock: DatabaseClock | null;
  readonly #deferred: PostgresDeferredUndo;
  readonly #instance: PostgresInstance;
  readonly #revocations: Revocations;
  #secret: Promise<Buffer> | null = null;
  #timer: Timer | null = null;
  #housekeeping: Promise<void> = Promise.resolve();
  #writableUntil = -Infinity;
  #closed: Promise<void> | null = null;

  constructor(options: PostgresOptions) {
    const { url, timers = systemTimers, onError = () => undefined } = options;
    this.#secretText = options.secret;
    this.#timers = timers;
    this.#onError = onError;
    this.#connections = new Connections(url, options.connections ?? DEFAULT_CONNECTIONS);
    const statements = new Statements(this.#connections, timers, options.timeoutMs ?? SERVER_TIMEOUT_MS);
    this.#statements = statements;
    this.#databaseClock = options.clock === undefined ? new DatabaseClock(statements) : null;
    const clock = options.clock ?? this.#databaseClock?.now ?? Date.now;
    this.#clock = clock;
    this.#deferred = new PostgresDeferredUndo(timers, onError);
    const instance = new PostgresInstance(statements, clock, options.leaseMs ?? INSTANCE_LEASE_MS, onError);
    this.#instance = instance;
    this.#revocations = new Revocations(url, timers, onError);
    this.keys = new PostgresKeys(statements, () => this.#verifiedSecret(), this.#revocations, clock);
    this.credits = new PostgresCredits(statements, clock);
    this.accounts = new PostgresAccounts(statements, { keys: this.keys, credits: this.credits }, clock);
    this.holds = new PostgresHolds(statements, instance, this.#deferred, clock);
    this.idempotency = new PostgresIdempotency(statements, instance, this.#deferred, clock);
    this.transcripts = new PostgresTranscripts(statements, clock);
    this.access = new PostgresAccess(statements, this.keys, clock);
    this.history = new PostgresHistory(statements, clock);
    this.operators = new PostgresOperatorLog(statements, clock);
    this.administration = new PostgresAdministration(statements, clock);
    this.webhooks = new PostgresWebhookEvents(statements, instance, clock);
    this.jobs = new PostgresJobs(statements, instance, clock);
  }

  get recovery(): Recovery {
    return { ...this.#instance.recovered };
  }

  async open({ asServer }: { asServer: boolean }): Promise<void> {
    try {
      await this.#migrate();
      await this.#databaseClock?.set();
      if (!asServer) return;
      await this.#verifiedSecret();
      await this.#instance.register();
      await this.#revocations.start();
      this.#timer = this.#timers.every(HOUSEKEEPING_MS, () => this.#beginHousekeeping());
    } catch (error) {
      await this.abandon();
      throw whyNotOpened(error);
    }
  }

  audit(): Promise<Violation[]> {
    return this.#statements.snapshot(auditPostgres);
  }

  async checkWritable(): Promise<void> {
    const now = performance.now();
    if (now < this.#writableUntil) return;
    await this.#statements.repeatable(
      `INSERT INTO settings (name, value) VALUES ('written_at', $1) ON CONFLICT (name) DO UPDATE SET value = ` +
        `excluded.value`,
      [Buffer.from(String(this.#clock()))],
    );
    this.#writableUntil = now + WRITABLE_FOR_MS;
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#leave());
  }

  /** Resolves when the housekeeping that runs now is done. */
  async idle(): Promise<void> {
    await this.#housekeeping;
  }

  async #leave(): Promise<void> {
    this.#timer?.cancel();
    await this.#housekeeping;
    await this.#deferred.end();
    await this.#statements.end();
    try {
      await this.keys.flushLastUsed();
      await this.#instance.unregister();
    } catch (error) {
      this.#onError(error); // its lease lapses, and others do the same
    } finally {
      await this.abandon();
    }
  }

  /** Closes the connections; what it holds is released when its lease lapses. */
  async abandon(): Promise<void> {
    this.#closed ??= Promise.resolve();
    this.#timer?.cancel();
    await this.#revocations.end();
    await this.#connections.close();
  }

  async #migrate(): Promise<void> {
    await this.#statements.transaction(
      async (query) => {
        await query('SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0');
        if (!(await isMigrated(query))) await migratePostgres(query);
      },
      { tryMs: OPENING_TIMEOUT_MS, repeatable: true },
    );
  }

  /** Checked once, under a lock: of two first starts one stores its secret, and the other compares its own with it. */
  #verifiedSecret(): Promise<Buffer> {
    this.#secret ??= this.#verifySecret().catch((error: unknown) => {
      this.#secret = null;
      throw error;
    });
    return this.#secret;
  }

  async #verifySecret(): Promise<Buffer> {
    const text = this.#secretText;
    if (text === null) {
      throw new Error(
        'VERBATIM_SECRET is not set. With PostgreSQL every server and the command line need the same one, of at ' +
          'least 16 characters.',
      );
    }
    return this.#statements.transaction(
      async (query) => {
        await query('LOCK TABLE settings IN SHARE ROW EXCLUSIVE MODE');
        return verifySecret(query, text);
      },
      { repeatable: true },
    );
  }

  #beginHousekeeping(): void {
    this.#housekeeping = this.#housekeeping.then(() => this.#runHousekeeping()).catch(this.#onError);
  }

  async #runHousekeeping(): Promise<void> {
    await this.#instance.renew();
    await this.#databaseClock?.set();
    await this.keys.flushLastUsed();
    while (await this.idempotency.sweep());
    await this.access.sweep();
    await this.administration.sweep();
    await this.#instance.releaseDead();
  }
}

/** An operator who starts the server needs to know what is wrong with address, user or network; a client must not. */
function whyNotOpened(error: unknown): unknown {
  return error instanceof VerbatimError && error.cause instanceof Error ? error.cause : error;
}
