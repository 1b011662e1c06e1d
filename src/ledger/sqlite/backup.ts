/** A copy of the ledger that can be opened as it is: database and key secret side by side, as the live ones lie. */
import { existsSync, linkSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Database } from './driver.js';
import { audit } from './audit.js';
import { syncToDisk } from './database.js';
import type { DatabaseAction } from '../operators.js';
import { isCurrent, isOurs, refuseNewerFile } from './migrate.js';
import { noteDone } from './operators.js';
import { makePrivateFile } from './private-file.js';
import { readSecretFile, secretFileOf, writeSecretFile } from './secret.js';

export interface Backup {
  file: string;
  /** null: the secret is the operator's, in VERBATIM_SECRET. */
  secret: string | null;
  bytes: number;
}

export interface BackupOptions {
  secret: string | null;
  /** For the operators' log of the database, behind the backup. */
  noted?: DatabaseAction;
}

/**
 * Copies the database as it is at one moment, while servers go on writing. Nothing is overwritten, and the file has its
 * name only when it is whole. Throws an Error that says what is wrong.
 */
export function backUp(database: string, target: string, given: BackupOptions): Backup {
  const file = resolve(target);
  const secret = given.secret === null ? readSecretFile(secretFileOf(resolve(database))) : null;
  for (const path of [file, secretFileOf(file)]) {
    if (existsSync(path)) throw new Error(`${path} exists already; a backup overwrites nothing.`);
  }
  const part = `${file}.part`;
  rmSync(part, { force: true });
  makePrivateFile(part);
  try {
    copyWhole(resolve(database), part);
    const copy = new Database(part);
    try {
      refuseUnbalanced(copy, database);
    } finally {
      copy.close();
    }
    if (secret !== null) writeSecretFile(secretFileOf(file), secret);
    syncToDisk(part);
    linkSync(part, file); // unlike a rename, it fails when somebody was faster
  } finally {
    rmSync(part, { force: true });
  }
  syncToDisk(dirname(file));
  if (given.noted !== undefined) note(resolve(database), file, given.noted);
  return { file, secret: secret === null ? null : secretFileOf(file), bytes: statSync(file).size };
}

/** A database of an older version is left as it is: its log has other columns. */
function note(database: string, file: string, noted: DatabaseAction): void {
  const source = openExisting(database);
  try {
    if (isCurrent(source)) noteDone(source, noted);
  } catch (error) {
    throw new Error(`The backup ${file} is whole, but ${database} could not note it in the operators' log.`, {
      cause: error,
    });
  } finally {
    source.close();
  }
}

/** `part` exists, empty and private. */
export function copyWhole(from: string, part: string): void {
  const source = openExisting(from);
  try {
    source.prepare('VACUUM INTO ?').run(part);
  } finally {
    source.close();
  }
}

/** Throws an Error that names the first invariant that does not hold. */
export function refuseUnbalanced(database: Database, path: string): void {
  const [violation] = audit(database);
  if (violation === undefined) return;
  throw new Error(`The ledger in ${path} does not balance: ${violation.invariant}: ${violation.detail}.`);
}

function openExisting(path: string): Database {
  if (!existsSync(path)) throw new Error(`There is no database at ${path}.`);
  const database = new Database(path, { fileMustExist: true });
  try {
    if (!isOurs(database)) throw new Error(`${path} is not one of Verbatim's databases.`);
    refuseNewerFile(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
