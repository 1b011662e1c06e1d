import { hostname } from 'node:os';
import { randomId } from '../ids.js';
import type { WallClock } from '../time.js';
import type { Recovery } from '../types.js';
import type { Statements } from './statements.js';
import { violates } from './database-failure.js';

/**
 * A server that has not renewed its lease for this long is dead: its holds are released. Renewed every five seconds.
 */
export const INSTANCE_LEASE_MS = 30_000;

/** Whatever names the server that it is for. */
const REFERENCES = [
  'holds_instance_id_fkey',
  'jobs_instance_id_fkey',
  'webhook_events_instance_id_fkey',
  'idempotency_records_instance_id_fkey',
];

interface Released {
  holds: number;
  credits: number;
  records: number;
}

/** This server among those that live on the database. */
export class PostgresInstance {
  readonly recovered: Recovery = { holds: 0, credits: 0, idempotencyRecords: 0 };
  #id: string | null = null;
  /** Since when this server has renewed its lease without a gap, and so would have seen others renew theirs. */
  #unbrokenSince = 0;
  #renewedAt = 0;

  constructor(
    private readonly statements: Statements,
    private readonly clock: WallClock,
    private readonly leaseMs: number,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** The id of this server's registration. */
  get id(): string {
    if (this.#id !== null) return this.#id;
    throw new Error('This ledger was opened for administration; only a server may hold credits.');
  }

  async register(): Promise<void> {
    const id = randomId('srv');
    const now = this.clock();
    await this.statements.once(
      'INSERT INTO instances (id, host, pid, started_at, lease_expires_at) VALUES ($1, $2, $3, $4, $5)',
      [id, hostname(), process.pid, now, now + this.leaseMs],
    );
    this.#id = id;
    this.#unbrokenSince = now;
    this.#renewedAt = now;
  }

  /** Does what needs this server's registration, which others may have ended while it did not renew it. */
  async alive<T>(work: (id: string) => Promise<T>): Promise<T> {
    const { id } = this;
    try {
      return await work(id);
    } catch (error) {
      if (!REFERENCES.some((name) => violates(error, name))) throw error;
      await this.#registerAgain(id);
      return work(this.id);
    }
  }

  async renew(): Promise<void> {
    const { id } = this;
    const now = this.clock();
    const rows = await this.statements.repeatable(
      'UPDATE instances SET lease_expires_at = $2 WHERE id = $1 RETURNING id',
      [id, now + this.leaseMs],
    );
    if (rows.length === 0) return this.#registerAgain(id);
    if (now - this.#renewedAt >= this.leaseMs) this.#unbrokenSince = now;
    this.#renewedAt = now;
  }

  /**
   * Releases what dead servers held. It does so only after this server has renewed its own lease for as long as a lease
   * without a gap. When the database could not be reached for a while, all leases may have lapsed, and the other
   * servers need that time to renew theirs. The same goes for servers that were there before this one started.
   */
  async releaseDead(): Promise<void> {
    if (this.clock() - this.#unbrokenSince < this.leaseMs) return;
    const [released] = await this.statements.once<Released>('SELECT * FROM reap($1, $2)', [this.id, this.clock()]);
    this.#count(released);
  }

  /** Releases what this server holds. */
  async unregister(): Promise<void> {
    if (this.#id === null) return;
    const values = [this.#id, this.clock()];
    const [released] = await this.statements.repeatable<Released>('SELECT * FROM bury($1, $2)', values);
    this.#count(released);
    this.#id = null;
  }

  async #registerAgain(lost: string): Promise<void> {
    if (this.#id !== lost) return; // somebody was faster
    this.onError(
      new Error(`This server did not reach the database for ${this.leaseMs} ms: what it held was released.`),
    );
    await this.register();
  }

  #count(released: Released | undefined): void {
    this.recovered.holds += released?.holds ?? 0;
    this.recovered.credits += released?.credits ?? 0;
    this.recovered.idempotencyRecords += released?.records ?? 0;
  }
}
