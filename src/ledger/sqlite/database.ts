import { closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeDirectory } from '../../make-directory.js';
import { Database } from './driver.js';
import { migrate } from './migrate.js';
import { keepPrivate, makePrivateFile } from './private-file.js';

/** While a database is opened nobody is served yet, so SQLite itself may wait for another process's transaction. */
export const BUSY_TIMEOUT_MS = 5_000;

const CACHE_KIBIBYTES = 2_048;

/** Of 4 KiB; SQLite's own choice is 1000. */
const LOG_PAGES = 4_000;

/** Opens the database, creating directory and file if need be, and brings its schema up to date. */
export function openDatabase(path: string): Database {
  const file = resolve(path);
  makeDirectory(dirname(file));
  refuseEmptied(file);
  makePrivateFile(file);
  for (const suffix of ['', '-wal', '-shm']) keepPrivate(file + suffix);
  const database = new Database(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    configure(database);
    migrate(database);
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/**
 * Of a file: its bytes; of a directory: the files that were made and renamed in it. Never of an open database, whose
 * locks would go.
 */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A secret is written after its database: beside an empty one it shows that a ledger is lost. */
function refuseEmptied(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.size !== 0 || !existsSync(`${file}.secret`)) return;
  throw new Error(
    `${file} is empty (0 bytes), but its key secret lies beside it: accounts, keys and credits are lost. Put a ` +
      `backup back with "verbatim database restore FILE"; to begin again instead, move ${file}.secret away.`,
  );
}

function configure(database: Database): void {
  enterWal(database);
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  database.pragma('recursive_triggers = ON');
  // Transcripts, and answers kept for Idempotency-Key: a deleted text is overwritten. FAST would leave long ones in
  // pages that become free.
  database.pragma('secure_delete = ON');
  // The driver's default of 16 MB would fill up by some hundred bytes a request. A request needs few pages (its
  // account's, the last of each table), which fit in much less.
  database.pragma(`cache_size = -${CACHE_KIBIBYTES}`);
  // The commit that fills the log waits until the log is in the database and on the disk. With a log of this length
  // that is rare, and a page that was written many times is then written once.
  database.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
}

/** SQLite does not wait for a lock when it changes the journal mode, so two first starts may collide. */
function enterWal(database: Database): void {
  const deadline = Date.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      const mode = database.pragma('journal_mode = WAL', { simple: true });
      if (mode === 'wal') return;
      throw new Error(
        `${database.name} cannot use write-ahead logging (journal mode stays "${String(mode)}"); ` +
          'put the database on a local file system.',
      );
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/** The database could not be written or read just now: locked, out of space, or a failing disk. */
export function isFailure(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN)/.test(error.code);
}

export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}
