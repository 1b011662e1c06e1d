/**
 * Where a measurement writes its models of random weights, some 100 MB. A measurement that was killed leaves them; the
 * next one removes them. A lock beside the directory, which the kernel releases when its process dies, says whether a
 * measurement still runs.
 */
import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ifUnlocked, withFileLock } from '../file-lock.js';

const PREFIX = 'verbatim-measurement-';
const LOCK = '.lock';

/** `work` gets an empty directory below TMPDIR, which goes when it is done. Rejects as `work` does. */
export async function withMeasurementDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  removeAbandoned();
  const directory = join(tmpdir(), `${PREFIX}${randomUUID()}`);
  const lock = `${directory}${LOCK}`;
  // The directory exists only while its lock is held, or after a kill.
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
