import type Database from 'better-sqlite3';
import { refuseNewer } from '../schema-version.js';
import { searchTerms } from '../search-terms.js';
import { MIGRATIONS } from './migrations/index.js';

/** Marks the file as Verbatim's ("VBTM"), so that another program's database is not migrated by mistake. */
const APPLICATION_ID = 0x5642544d;

/** Brings the database to the code's version in one transaction; safe when several processes start at once. */
export function migrate(database: Database.Database, migrations = MIGRATIONS): void {
  if (versionOf(database) === migrations.length && isOurs(database)) return;
  // A table that others refer to may be recreated; no transaction can change this, so the references are checked at its
  // end.
  const enforced = database.pragma('foreign_keys', { simple: true }) === 1;
  database.pragma('foreign_keys = OFF');
  // What SQL cannot say: migrations call it.
  database.function('search_terms', (email: string, name: string | null) => JSON.stringify(searchTerms(email, name)));
  try {
    database.transaction(() => run(database, migrations)).immediate();
  } finally {
    if (enforced) database.pragma('foreign_keys = ON');
  }
}

function run(database: Database.Database, migrations: readonly string[]): void {
  const version = versionOf(database); // again: another process may have migrated while this one waited
  refuseForeign(database, version);
  refuseNewerFile(database, migrations.length);
  for (const sql of migrations.slice(version)) database.exec(sql);
  const [broken] = database.pragma('foreign_key_check') as { table: string; parent: string }[];
  if (broken !== undefined) {
    throw new Error(
      `The database ${database.name} is damaged: a row of ${broken.table} refers to none of ${broken.parent}.`,
    );
  }
  database.pragma(`application_id = ${APPLICATION_ID}`);
  database.pragma(`user_version = ${migrations.length}`);
}

function versionOf(database: Database.Database): number {
  return Number(database.pragma('user_version', { simple: true }));
}

/** Whether the database has this version's schema. */
export function isCurrent(database: Database.Database): boolean {
  return isOurs(database) && versionOf(database) === MIGRATIONS.length;
}

/** Throws an Error when a newer version of Verbatim wrote the database. */
export function refuseNewerFile(database: Database.Database, known = MIGRATIONS.length): void {
  refuseNewer(`The database ${database.name}`, { version: versionOf(database), known });
}

export function isOurs(database: Database.Database): boolean {
  return database.pragma('application_id', { simple: true }) === APPLICATION_ID;
}

function refuseForeign(database: Database.Database, version: number): void {
  const tables = database.prepare('SELECT count(*) FROM sqlite_schema').pluck().get();
  if (isOurs(database) || (version === 0 && tables === 0)) return;
  throw new Error(`${database.name} is a SQLite database, but not one of Verbatim's.`);
}
