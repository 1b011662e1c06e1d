/**
 * Directories for the random models of a measurement, about 100 MB. A measurement that was killed leaves its directory,
 * and the next one removes it. A lock file beside the directory shows whether the measurement still runs, because the
 * kernel releases the lock when the process dies.
 */
import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ifUnlocked, withFileLock } from '../file-lock.js';

const PREFIX = 'verbatim-measurement-';
const LOCK = '.lock';

/** Calls `work` with an empty directory below TMPDIR, and removes the directory afterwards. Rejects as `work` does. */
export async function withMeasurementDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  removeAbandoned();
  const directory = join(tmpdir(), `${PREFIX}${randomUUID()}`);
  const lock = `${directory}${LOCK}`;
  // The directory exists only while its lock is held, or after its process was killed.
  return withFileLock(lock, async () => {
    try {
      mkdirSync(directory, { mode: 0o700 });
      return await work(directory);
    } finally {
      rmSync(directory, { recursive: true, force: true });
      rmSync(lock, { force: true });
    }
  });
}

function removeAbandoned(): void {
  for (const name of readdirSync(tmpdir())) {
    const path = join(tmpdir(), name);
    if (!name.startsWith(PREFIX) || !isOwnDirectory(path)) continue;
    ifUnlocked(`${path}${LOCK}`, () => rmSync(path, { recursive: true, force: true }));
  }
}

function isOwnDirectory(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === process.getuid?.();
}
