/** Only the owner may read database and secret: mode 0600, whatever the umask, and whichever process made them. */
import { chmodSync, closeSync, openSync, statSync } from 'node:fs';

const OTHERS = 0o077;

/**
 * Makes the file, empty, unless it is there; then it is not even opened, because closing it again would drop the locks
 * that this process may have on it. SQLite gives its log and shared memory the mode of the database.
 */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Takes the rights of others away where there are any. Throws an Error that says what to do when it may not. */
export function keepPrivate(path: string): void {
  const status = statSync(path, { throwIfNoEntry: false });
  if (status === undefined || (status.mode & OTHERS) === 0) return;
  try {
    chmodSync(path, 0o600);
  } catch (cause) {
    throw new Error(
      `Other users of this machine can read ${path}, and this one may not change that; run "chmod 600" on it as its ` +
        `owner.`,
      { cause },
    );
  }
}
