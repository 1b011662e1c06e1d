/** Replaces the ledger by a backup, when nobody uses it and the backup has passed every check. */
import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeDirectory } from '../../make-directory.js';
import type { DatabaseAction } from '../operators.js';
import { Database } from './driver.js';
import { copyWhole, refuseUnbalanced } from './backup.js';
import { isBusy, openDatabase, syncToDisk } from './database.js';
import { livingServers } from './instances.js';
import { noteDone } from './operators.js';
import { makePrivateFile } from './private-file.js';
import { fits, readSecretFile, secretFileOf, writeSecretFile } from './secret.js';

export interface Restored {
  database: string;
  /** Where the database that was there before lies now; null where there was none. */
  before: string | null;
}

export interface RestoreOptions {
  secret: string | null;
  now: Date;
  /** For the operators' log of the restored database. */
  noted?: DatabaseAction;
}

/** Throws an Error that says what is wrong; then everything is as it was. */
export function restore(backup: string, target: string, options: RestoreOptions): Restored {
  const database = resolve(target);
  const part = `${database}.restoring`;
  makeDirectory(dirname(database));
  refuseWhileServed(database);
  removeDatabase(part);
  makePrivateFile(part);
  try {
    copyWhole(resolve(backup), part);
    const files = [secretFileOf(resolve(backup)), secretFileOf(database)];
    const secret = checkedSecret(part, backup, { files, given: options.secret, noted: options.noted });
    const before = `${database}.before-restore-${options.now.toISOString().replaceAll(/[-:.]/g, '')}`;
    const had = existsSync(database);
    whileNobodyUses(database, () => {
      if (had) setAside(database, before);
      if (secret !== null) writeSecretFile(secretFileOf(database), secret);
      renameSync(part, database);
      syncToDisk(dirname(database));
    });
    return { database, before: had ? before : null };
  } finally {
    removeDatabase(part);
  }
}

/**
 * Brings the copy to this version's schema, audits it, and finds the secret that its keys were made with; null: the one
 * given.
 */
function checkedSecret(
  part: string,
  backup: string,
  { files, given, noted }: { files: readonly string[]; given: string | null; noted: DatabaseAction | undefined },
): Buffer | null {
  const copy = openDatabase(part);
  try {
    refuseUnbalanced(copy, backup);
    if (noted !== undefined) noteDone(copy, noted);
    if (given !== null && fits(copy, Buffer.from(given, 'utf8'))) return null;
    for (const file of given === null ? files : []) {
      const secret = readSecretFile(file);
      if (secret !== null && fits(copy, secret)) return secret;
    }
    if (given === null && fits(copy, Buffer.alloc(0))) return null;
    throw new Error(
      "The backup's API keys were made with another secret than " +
        `${given === null ? `those in ${files.join(' and ')}` : 'VERBATIM_SECRET'}; its own lay beside it, or was in ` +
        'VERBATIM_SECRET.',
    );
  } finally {
    // One file and no log, so that it can take another's place.
    copy.pragma('journal_mode = DELETE');
    copy.close();
  }
}

function refuseWhileServed(database: string): void {
  const [server] = livingServers(database);
  if (server === undefined) return;
  throw new Error(`A server (${server}) is running on ${database}; stop it first.`);
}

/**
 * Runs `replace` while nobody else has the database open, nor can begin to use it. Leaving write-ahead mode needs the
 * file for oneself, and folds the log in; what cannot be opened at all (that may be why it is replaced) nobody can be
 * using.
 */
function whileNobodyUses(database: string, replace: () => void): void {
  const current = existsSync(database) ? openOrNull(database) : null;
  try {
    lockOut(current, database);
    refuseWhileServed(database);
    replace();
  } finally {
    current?.close();
  }
}

function openOrNull(path: string): Database | null {
  const database = new Database(path, { timeout: 0 });
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return database;
  } catch (error) {
    database.close();
    if (isBusy(error)) throw inUse(path);
    return null;
  }
}

function lockOut(current: Database | null, path: string): void {
  try {
    current?.pragma('journal_mode = DELETE');
    current?.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    throw isBusy(error) ? inUse(path) : error;
  }
}

function inUse(path: string): Error {
  return new Error(`Another process has ${path} open; stop it first.`);
}

/**
 * Sets the database aside by a second name (a link), so that it is never missing: a server would begin a new one. Not
 * by a copy: a process that opens and closes the file drops its own lock on it.
 */
function setAside(database: string, before: string): void {
  for (const suffix of ['', '.secret']) {
    if (existsSync(database + suffix)) linkSync(database + suffix, before + suffix);
  }
  if (existsSync(`${database}-wal`)) renameSync(`${database}-wal`, `${before}-wal`);
  rmSync(`${database}-shm`, { force: true });
}

function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
}
