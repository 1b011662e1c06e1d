/** Brings the schema to the code's version. */
import type { Querying } from './connections.js';
import { SCHEMA } from './connections.js';
import { POSTGRES_MIGRATIONS } from './migrations/index.js';
import { refuseNewer } from '../schema-version.js';

/** PostgreSQL's advisory lock for migrations ("VBTM"). Servers that start at the same time wait for it. */
const MIGRATION_LOCK = 0x5642544d;

/** In the caller's transaction. Throws an Error when another program or a newer version wrote the schema. */
export async function migratePostgres(
  query: Querying,
  migrations: readonly string[] = POSTGRES_MIGRATIONS,
): Promise<void> {
  await query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  // A later start need not be allowed to make a schema.
  if ((await schemaOf(query)) === 'none') await query(`CREATE SCHEMA ${SCHEMA}`);
  if ((await schemaOf(query)) === 'empty') {
    await query('CREATE TABLE schema_version (version INTEGER NOT NULL)');
    await query('INSERT INTO schema_version (version) VALUES (0)');
  }
  const version = await versionOf(query);
  refuseNewer('The database', { version, known: migrations.length });
  for (const sql of migrations.slice(version)) await query(sql);
  if (version < migrations.length) await query('UPDATE schema_version SET version = $1', [migrations.length]);
}

/** Whether nothing is to be done, without a lock. */
export async function isMigrated(query: Querying): Promise<boolean> {
  return (await schemaOf(query)) === 'ours' && (await versionOf(query)) === POSTGRES_MIGRATIONS.length;
}

async function schemaOf(query: Querying): Promise<'none' | 'empty' | 'ours'> {
  const [found] = await query<{ made: boolean; tables: number; ours: boolean }>(
    `SELECT to_regnamespace('${SCHEMA}') IS NOT NULL AS made,
       to_regclass('${SCHEMA}.schema_version') IS NOT NULL AS ours,
       (SELECT count(*) FROM pg_tables WHERE schemaname = '${SCHEMA}') AS tables`,
  );
  if (found?.ours === true) return 'ours';
  if (found?.made !== true) return 'none';
  if (found.tables === 0) return 'empty';
  throw new Error(`The database has a schema "${SCHEMA}" that is not one of Verbatim's. Use another database.`);
}

async function versionOf(query: Querying): Promise<number> {
  const [row] = await query<{ version: number }>('SELECT version FROM schema_version');
  return row?.version ?? 0;
}
