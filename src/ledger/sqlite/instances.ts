import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Database } from './driver.js';
import { isBusy } from './database.js';
import { makePrivateFile } from './private-file.js';
import { randomId } from '../ids.js';
import type { WallClock } from '../time.js';

const SERVER_ID = /^srv_[A-Za-z0-9_-]{16}$/;

/**
 * Which servers use the database, and which of them are alive.
 *
 * Each server keeps a lock file of its own locked as long as it lives. The kernel drops the lock with the process,
 * however that ends, so a dead server is known at once, without heartbeats, leases or process ids, and across
 * containers. (Write-ahead logging already keeps all users of a database on one kernel.) Node has no file locks; an
 * exclusive transaction on an empty SQLite file is one. Every look at lock files happens under the database's write
 * lock, which the callers hold, so nobody sees a file between its creation and its locking.
 */
export class Instances {
  readonly #insert;
  readonly #all;
  readonly #delete;
  #own: { id: string; lock: Database } | null = null;

  constructor(
    private readonly database: Database,
    private readonly clock: WallClock,
  ) {
    this.#insert = database.prepare<[string, number, number]>(
      'INSERT INTO instances (id, pid, started_at) VALUES (?, ?, ?)',
    );
    this.#all = database.prepare<[], string>('SELECT id FROM instances').pluck();
    this.#delete = database.prepare<[string]>('DELETE FROM instances WHERE id = ?');
  }

  /** The id of this process's registration. */
  get id(): string {
    if (this.#own !== null) return this.#own.id;
    throw new Error('This ledger was opened for administration; only a server may hold credits.');
  }

  register(): void {
    const id = randomId('srv');
    const lock = tryLock(this.#lockFile(id), false);
    if (lock === null) throw new Error(`Cannot lock ${this.#lockFile(id)}.`);
    this.#own = { id, lock };
    this.#insert.run(id, process.pid, this.clock());
  }

  /** Calls `bury` for each dead server, then deletes it. */
  releaseDead(release: (id: string) => void): void {
    const known = this.#all.all();
    for (const id of known) if (id !== this.#own?.id) this.#releaseIfDead(id, release);
    this.#removeOrphans(new Set(known));
  }

  all(): string[] {
    return this.#all.all();
  }

  hasOthers(): boolean {
    return this.all().length > 1;
  }

  unregister(release: (id: string) => void): void {
    if (this.#own === null) return;
    release(this.#own.id);
    this.#delete.run(this.#own.id);
    this.drop();
  }

  /** Lets go of the lock without touching the database. */
  drop(): void {
    if (this.#own === null) return;
    rmSync(this.#lockFile(this.#own.id), { force: true });
    this.#own.lock.close();
    this.#own = null;
  }

  #releaseIfDead(id: string, release: (id: string) => void): void {
    const file = this.#lockFile(id);
    const hasFile = existsSync(file);
    const lock = hasFile ? tryLock(file, true) : null;
    if (hasFile && lock === null) return; // alive
    release(id);
    this.#delete.run(id);
    rmSync(file, { force: true });
    lock?.close();
  }

  /** Files of servers that died before their registration was committed. */
  #removeOrphans(known: ReadonlySet<string>): void {
    const prefix = basename(this.#lockFile(''));
    for (const name of readdirSync(dirname(this.database.name))) {
      const id = name.slice(prefix.length);
      if (!name.startsWith(prefix) || !SERVER_ID.test(id)) continue;
      if (known.has(id) || id === this.#own?.id) continue;
      const file = join(dirname(this.database.name), name);
      const lock = tryLock(file, true);
      if (lock === null) continue;
      rmSync(file, { force: true });
      lock.close();
    }
  }

  #lockFile(id: string): string {
    return `${this.database.name}-server-${id}`;
  }
}

/** Ids of the servers that live on the database, by their lock files alone: the database itself may be damaged. */
export function livingServers(database: string): string[] {
  const prefix = `${basename(database)}-server-`;
  return readdirSync(dirname(database))
    .filter((name) => name.startsWith(prefix) && SERVER_ID.test(name.slice(prefix.length)))
    .filter((name) => {
      const lock = tryLock(join(dirname(database), name), true);
      lock?.close();
      return lock === null;
    })
    .map((name) => name.slice(prefix.length));
}

/** null when another process, or another ledger of this one, has it locked. */
function tryLock(file: string, fileMustExist: boolean): Database | null {
  if (!fileMustExist) makePrivateFile(file);
  const lock = new Database(file, { timeout: 0, fileMustExist });
  try {
    lock.pragma('journal_mode = MEMORY'); // nothing is ever written, so no second file is needed
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (isBusy(error)) return null;
    throw error;
  }
}
