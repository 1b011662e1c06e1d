import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { isSecretCheckOf, SECRET_CHECK, secretCheckOf } from '../rows/secret.js';
import { keepPrivate } from './private-file.js';

/**
 * The server's secret: the one given, or the one in the 0600 file beside the database, made on first need. Refuses a
 * secret that is not the one the database's keys were made with, since every key would then be unknown.
 */
export function loadSecret(database: Database.Database, given: string | null): Buffer {
  const path = secretFileOf(database.name);
  // Under the database's write lock: of two processes one makes the file, and both read the same secret.
  return database
    .transaction(() => {
      const stored = given === null ? readSecretFile(path) : null;
      const secret = given === null ? (stored ?? randomBytes(32)) : Buffer.from(given, 'utf8');
      verify(database, secret, given === null ? path : null);
      if (given === null && stored === null) writeSecretFile(path, secret);
      return secret;
    })
    .immediate();
}

export const secretFileOf = (database: string): string => `${database}.secret`;

/** Whether the database's keys were made with this secret, or no usable key is left. */
export function fits(database: Database.Database, secret: Buffer): boolean {
  const known = database.prepare('SELECT value FROM settings WHERE name = ?').pluck().get(SECRET_CHECK);
  return known === undefined || isSecretCheckOf(secret, known) || !hasLiveKeys(database);
}

function hasLiveKeys(database: Database.Database): boolean {
  const live = 'SELECT EXISTS (SELECT 1 FROM api_keys WHERE revoked_at IS NULL)';
  return database.prepare(live).pluck().get() === 1;
}

function verify(database: Database.Database, secret: Buffer, path: string | null): void {
  if (!fits(database, secret)) {
    throw new Error(
      `The API keys in ${database.name} were made with another secret than ` +
        `${path === null ? 'VERBATIM_SECRET' : `the one in ${path}`}. Give the server and the command line ` +
        'the same VERBATIM_SECRET, or put the file back; or revoke every key and make new ones.',
    );
  }
  const known = database.prepare('SELECT value FROM settings WHERE name = ?').pluck().get(SECRET_CHECK);
  if (isSecretCheckOf(secret, known)) return;
  database
    .prepare('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)')
    .run(SECRET_CHECK, secretCheckOf(secret));
}

/** null: there is no file. Throws an Error for a damaged one. */
export function readSecretFile(path: string): Buffer | null {
  if (!existsSync(path)) return null;
  keepPrivate(path);
  const text = readFileSync(path, 'utf8').trim();
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new Error(`${path} is damaged: it must hold 64 hexadecimal digits. Restore it or set VERBATIM_SECRET.`);
  }
  return Buffer.from(text, 'hex');
}

/** Durable before the first key depends on it. */
export function writeSecretFile(path: string, secret: Buffer): void {
  const part = `${path}.part`;
  rmSync(part, { force: true });
  withFile(part, 'wx', (descriptor) => {
    writeSync(descriptor, `${secret.toString('hex')}\n`);
  });
  renameSync(part, path);
  withFile(dirname(path), 'r', () => undefined);
}

function withFile(path: string, flags: string, work: (descriptor: number) => void): void {
  const descriptor = openSync(path, flags, 0o600);
  try {
    work(descriptor);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
