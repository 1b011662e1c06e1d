/** Opens the ledger that the configuration names. */
import { createPostgresLedger, DEFAULT_CONNECTIONS, openPostgresLedger } from '../ledger/postgres/ledger.js';
import { createLedger, openLedger } from '../ledger/sqlite/ledger.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Config } from './config.js';
import { isPostgres } from './database-address.js';

type Where = Pick<Config, 'database' | 'databaseConnections' | 'secret'>;

/** Administrative commands run one query after another. */
const ADMINISTRATION_CONNECTIONS = 2;

/** Opens the ledger for a server. */
export async function createConfiguredLedger(config: Where, onError: (error: unknown) => void): Promise<Ledger> {
  const { database, databaseConnections, secret } = config;
  if (!isPostgres(database)) return createLedger({ path: database, secret, onError });
  const connections = databaseConnections ?? DEFAULT_CONNECTIONS;
  return createPostgresLedger({ url: database, secret, connections, onError });
}

/** Opens the ledger for administration, also beside running servers. */
export async function openConfiguredLedger({ database, secret }: Where): Promise<Ledger> {
  if (!isPostgres(database)) return openLedger({ path: database, secret });
  return openPostgresLedger({ url: database, secret, connections: ADMINISTRATION_CONNECTIONS });
}
