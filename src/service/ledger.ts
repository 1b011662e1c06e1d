/** The ledger, wherever the configuration says that it is. */
import { createPostgresLedger, DEFAULT_CONNECTIONS, openPostgresLedger } from '../ledger/postgres/ledger.js';
import { createLedger, openLedger } from '../ledger/sqlite/ledger.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Config } from './config.js';
import { isPostgres } from './database-address.js';

type Where = Pick<Config, 'database' | 'databaseConnections' | 'secret'>;

/** Administration asks one thing after the other. */
const ADMINISTRATION_CONNECTIONS = 2;

/** For a server. */
export async function createConfiguredLedger(config: Where, onError: (error: unknown) => void): Promise<Ledger> {
  const { database, databaseConnections, secret } = config;
  if (!isPostgres(database)) return createLedger({ path: database, secret, onError });
  const connections = databaseConnections ?? DEFAULT_CONNECTIONS;
  return createPostgresLedger({ url: database, secret, connections, onError });
}

/** For administration, also beside running servers. */
export async function openConfiguredLedger({ database, secret }: Where): Promise<Ledger> {
  if (!isPostgres(database)) return openLedger({ path: database, secret });
  return openPostgresLedger({ url: database, secret, connections: ADMINISTRATION_CONNECTIONS });
}
