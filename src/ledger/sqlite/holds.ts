import type Database from 'better-sqlite3';
import type { Credits, PackPart } from './credits.js';
import { tooManyInFlight } from '../limits.js';
import { checkAmount, revokedMeanwhile } from '../rows/packs.js';
import type { WallClock } from '../time.js';
import type { Hold, HoldRequest } from '../types.js';

export interface HoldRow {
  id: number;
  account_id: string;
  key_id: string;
  request_id: string;
  credits: number;
  file_name: string | null;
}

/** Whose it is until it is settled or released: a request's of a running server, which it dies with, or a job's. */
type HoldOwner = { instanceId: string } | { jobId: string };

/** Credits set aside for what is worked on. Callers hold the write transaction. */
export class Holds {
  readonly #insert;
  readonly #insertPart;
  readonly #keyIsLive;
  readonly #isDeleted;
  readonly #open;
  readonly #parts;
  readonly #shrinkPart;
  readonly #deletePart;
  readonly #close;
  readonly #delete;
  readonly #ofInstance;
  readonly #ofJob;
  readonly #countOfRequests;

  constructor(
    database: Database.Database,
    private readonly credits: Credits,
    private readonly clock: WallClock,
  ) {
    this.#insert = database.prepare<
      [string, string, string, number, string | null, string | null, number, string | null]
    >(
      `INSERT INTO holds (account_id, key_id, request_id, credits, instance_id, job_id, created_at, file_name)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#insertPart = database.prepare<[number | bigint, number, number]>(
      'INSERT INTO hold_parts (hold_id, pack_id, credits) VALUES (?, ?, ?)',
    );
    this.#keyIsLive = database
      .prepare<[string, string], number>(
        `SELECT 1 FROM api_keys k JOIN accounts a ON a.id = k.account_id
         WHERE k.id = ? AND a.id = ? AND k.revoked_at IS NULL AND a.suspended_at IS NULL`,
      )
      .pluck();
    this.#isDeleted = database
      .prepare<[string], number>('SELECT 1 FROM accounts WHERE id = ? AND deleted_at IS NOT NULL')
      .pluck();
    this.#open = database.prepare<[string], HoldRow>(
      'SELECT id, account_id, key_id, request_id, credits, file_name FROM holds WHERE id = ? AND settled_at IS NULL',
    );
    this.#parts = database.prepare<[number], PackPart>(
      `SELECT part.pack_id, part.credits FROM hold_parts part JOIN credit_packs pack ON pack.id = part.pack_id
       WHERE part.hold_id = ? ORDER BY pack.expires_at IS NULL, pack.expires_at, pack.created_at, pack.id`,
    );
    this.#shrinkPart = database.prepare<[number, number, number]>(
      'UPDATE hold_parts SET credits = ? WHERE hold_id = ? AND pack_id = ?',
    );
    this.#deletePart = database.prepare<[number, number]>('DELETE FROM hold_parts WHERE hold_id = ? AND pack_id = ?');
    this.#close = database.prepare<[number, number, number]>(
      'UPDATE holds SET credits = ?, settled_at = ?, instance_id = NULL, job_id = NULL WHERE id = ?',
    );
    this.#delete = database.prepare<[number]>('DELETE FROM holds WHERE id = ?');
    this.#ofInstance = database.prepare<[string], HoldRow>(
      `SELECT id, account_id, key_id, request_id, credits, file_name FROM holds
       WHERE instance_id = ? AND settled_at IS NULL`,
    );
    this.#ofJob = database.prepare<[string], HoldRow>(
      'SELECT id, account_id, key_id, request_id, credits, file_name FROM holds WHERE job_id = ?',
    );
    this.#countOfRequests = database
      .prepare<[string], number>(
        'SELECT count(*) FROM holds WHERE account_id = ? AND settled_at IS NULL AND instance_id IS NOT NULL',
      )
      .pluck();
  }

  countOfRequests(accountId: string): number {
    return this.#countOfRequests.get(accountId) ?? 0;
  }

  place(request: HoldRequest, owner: HoldOwner): Hold {
    const { accountId, keyId, requestId, credits, mostInFlight = Infinity, fileName = null } = request;
    checkAmount('A hold', credits, Number.MAX_SAFE_INTEGER);
    this.#requireLiveKey(accountId, keyId);
    const inFlight = mostInFlight === Infinity ? 0 : this.countOfRequests(accountId);
    if (inFlight >= mostInFlight) throw tooManyInFlight(inFlight, mostInFlight);
    const parts = this.credits.take(accountId, credits);
    const now = this.clock();
    const [instance, job] = 'jobId' in owner ? [null, owner.jobId] : [owner.instanceId, null];
    const owned = [accountId, keyId, requestId, credits, instance, job, now, fileName] as const;
    const id = this.#insert.run(...owned).lastInsertRowid;
    for (const part of parts) this.#insertPart.run(id, part.pack_id, part.credits);
    return { id: String(id), credits };
  }

  /**
   * Spends `credits` of an open hold, in the packs' spending order, and releases the rest. Of a live key, unless
   * `evenIfRevoked`; never of a deleted account.
   */
  settle(holdId: string, credits: number, { evenIfRevoked = false } = {}): HoldRow {
    const hold = this.#open.get(holdId);
    if (hold === undefined) throw new Error(`Hold ${holdId} is not open; it cannot be settled.`);
    return this.#settle(hold, credits, evenIfRevoked);
  }

  /** Of a job whose charge was reversed: the credits of the charge are held again. */
  reopenOf(jobId: string, hold: Omit<HoldRow, 'id'> & { created_at: number }, parts: readonly PackPart[]): void {
    const { account_id, key_id, request_id, credits, created_at, file_name } = hold;
    const owned = [account_id, key_id, request_id, credits, null, jobId, created_at, file_name] as const;
    const id = this.#insert.run(...owned).lastInsertRowid;
    for (const part of parts) this.#insertPart.run(id, part.pack_id, part.credits);
  }

  /** Spends at most the credits that are held for the job. */
  settleOf(jobId: string, credits: number): { hold: HoldRow; charged: number } {
    const hold = this.#ofJob.get(jobId);
    if (hold === undefined) throw new Error(`Nothing is held for job ${jobId}; it cannot be settled.`);
    const charged = Math.min(credits, hold.credits);
    return { hold: this.#settle(hold, charged), charged };
  }

  /** Gives everything back that is held for a job. */
  releaseOf(jobId: string): void {
    const hold = this.#ofJob.get(jobId);
    if (hold !== undefined) this.#release(hold);
  }

  #settle(hold: HoldRow, credits: number, evenIfRevoked = false): HoldRow {
    checkAmount('A charge', credits, hold.credits);
    if (!evenIfRevoked || this.#isDeleted.get(hold.account_id) !== undefined) {
      this.#requireLiveKey(hold.account_id, hold.key_id);
    }
    let left = credits;
    for (const part of this.#parts.all(hold.id)) {
      const charged = Math.min(part.credits, left);
      left -= charged;
      this.credits.finish(part, charged);
      if (charged === 0) this.#deletePart.run(hold.id, part.pack_id);
      else if (charged < part.credits) this.#shrinkPart.run(charged, hold.id, part.pack_id);
    }
    this.#close.run(credits, this.clock(), hold.id);
    return hold;
  }

  /** Gives everything back; nothing to do for a hold that is settled or released already. */
  release(holdId: string): void {
    const hold = this.#open.get(holdId);
    if (hold !== undefined) this.#release(hold);
  }

  releaseAllOf(instanceId: string): { holds: number; credits: number } {
    const holds = this.#ofInstance.all(instanceId);
    for (const hold of holds) this.#release(hold);
    return { holds: holds.length, credits: holds.reduce((sum, hold) => sum + hold.credits, 0) };
  }

  #release(hold: HoldRow): void {
    for (const part of this.#parts.all(hold.id)) this.credits.finish(part, 0);
    this.#delete.run(hold.id); // its parts with it
  }

  #requireLiveKey(accountId: string, keyId: string): void {
    if (this.#keyIsLive.get(keyId, accountId) !== undefined) return;
    throw revokedMeanwhile();
  }
}
