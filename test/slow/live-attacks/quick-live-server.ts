/** `quick-live-server.ts DIRECTORY`: the service as it is, with an engine that has room for any number of sessions. */
import { join } from 'node:path';
import { createLedger } from '../../../src/ledger/sqlite/ledger.js';
import { FakeEngine } from '../../support/fake-engine.js';
import { TestServer } from '../../support/server.js';

const SETTINGS = { maxConnectionsPerAddress: 100_000, maxLiveSessions: 100_000 };
const CREDITS = 1_000_000;
const [directory = ''] = process.argv.slice(2);

async function main(): Promise<void> {
  const engine = Object.assign(new FakeEngine(), { slots: 100_000, realTimeFactor: 0.0001 });
  const ledger = createLedger({ path: join(directory, 'verbatim.db') });
  const server = await TestServer.start({ engine, ledger, directory, settings: SETTINGS });
  const { key } = await server.customer(CREDITS);
  const other = await server.customer(CREDITS);
  // What tests look into would grow.
  setInterval(() => {
    engine.recognised.length = 0;
    server.logs.length = 0;
  }, 100);
  process.stdout.write(`serving ${server.url} ${key.rawKey} ${other.key.rawKey}\n`);
}

void main();
