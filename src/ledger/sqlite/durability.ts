import type Database from 'better-sqlite3';

const NORMAL = 'synchronous = NORMAL';
const FULL = 'synchronous = FULL';

/**
 * Runs a transaction whose commit does not wait for the disk. It is for data that dies with its server anyway: holds,
 * and answers still being made. In write-ahead mode such a commit survives the death of the process. A power cut may
 * lose it whole, but never out of order: the next charge's fsync covers all that was written before it. A charge
 * commits in this way, too, and its caller waits for that fsync beside the event loop: see LogSync.
 */
export function withoutFsync<T>(database: Database.Database, work: () => T): T {
  // The outermost transaction decides; SQLite lets none change its mind halfway.
  if (database.inTransaction) return work();
  database.pragma(NORMAL);
  try {
    return work();
  } finally {
    database.pragma(FULL);
  }
}
