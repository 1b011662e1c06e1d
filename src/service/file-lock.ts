/**
 * A lock between processes, on one machine or on several that share a file system with POSIX locks. It uses SQLite's
 * file lock, which the kernel releases whenever the process ends.
 */
import { existsSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Database } from '../ledger/sqlite/driver.js';

export interface FileLockOptions {
  signal?: AbortSignal | undefined;
  /** Called once, if another process has the lock. */
  onWait?: () => void;
  /** Milliseconds between two attempts. */
  pollMs?: number;
}

const POLL_MS = 250;

/**
 * Runs `work` while this process alone has the lock. `path` is a file that is created for the lock, and removed if
 * `work` succeeds. A process that waited for the lock must therefore check whether the work is already done. Rejects as
 * `work` does, with an AbortError, or, if the file cannot be created, with an Error that names it.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, options: FileLockOptions = {}): Promise<T> {
  const { signal, onWait, pollMs = POLL_MS } = options;
  let database: Database | null;
  for (let attempt = 1; (database = lockedFile(path)) === null; attempt++) {
    if (attempt === 1) onWait?.();
    await pause(pollMs, undefined, signal === undefined ? {} : { signal });
  }
  try {
    const result = await work();
    rmSync(path, { force: true });
    return result;
  } finally {
    database.close();
  }
}

/**
 * Runs `work` with the lock and then removes the file. Does nothing if another process has the lock. Throws like
 * withFileLock().
 */
export function ifUnlocked(path: string, work: () => void): void {
  const database = lockedFile(path);
  if (database === null) return;
  try {
    work();
    rmSync(path, { force: true });
  } finally {
    database.close();
  }
}

/** Returns the locked file. null: another process has the lock. */
function lockedFile(path: string): Database | null {
  const database = open(path);
  try {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    const isRemoved = !existsSync(path);
    if (isRemoved || (error as { code?: string }).code === 'SQLITE_BUSY') return null;
    throw error;
  }
}

function open(path: string): Database {
  try {
    return new Database(path, { timeout: 0 });
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`"${path}" cannot be created: ${message}. Check that this user may write there.`, { cause: error });
  }
}
