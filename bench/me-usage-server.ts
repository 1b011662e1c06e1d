/** The server of bench/me-usage.ts: the service on a ledger with usage, and beside it an Express route with a constant. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import express from 'express';
import { createLedger, openLedger } from '../src/ledger/sqlite/ledger.js';
import { DAY_MS } from '../src/ledger/time.js';
import { createLogger } from '../src/service/log.js';
import { Metrics } from '../src/http/metrics.js';
import { packageRoot } from '../src/package-root.js';
import { readConfig } from '../src/service/config.js';
import { startServer } from '../src/service/server.js';
import { serverSettings } from '../src/service/server-settings.js';
import { systemTimers } from '../src/timers.js';
import { FakeEngine } from '../test/support/fake-engine.js';

export interface Ready {
  service: string;
  constant: string;
  rawKey: string;
}

const SECRET = 'a secret for the bench';
const DAYS = 90;

/** What /me answers, as a constant. */
const CONSTANT = {
  user: { id: 'acc_Zk3v9Q0c7TfYb1Rn', email: 'ada@example.org', name: 'Ada' },
  key: { id: 'key_x1ZtJ0m4k9Qe2Lw7', name: 'laptop', prefix: 'vb_3q2-7wAb' },
  credits: { balance: 497, lifetime_purchased: 500 },
};

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-'));
  const path = join(directory, 'verbatim.db');
  const rawKey = await fill(path, Number(process.argv[2]));
  const ledger = createLedger({ path, secret: SECRET });
  const logger = createLogger({ level: 'info', stream: { write: () => undefined } });
  const server = await startServer({
    ...{ host: '127.0.0.1', port: 0, version: 'bench', uploadBase: directory },
    ...{ ledger, logger, engine: new FakeEngine(), metrics: new Metrics() },
    timers: systemTimers,
    settings: serverSettings(readConfig({}, packageRoot)),
  });
  const app = express();
  app.get('/constant', (_req, res) => void res.json(CONSTANT));
  const plain = createServer(app).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const constant = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`;
  process.send?.({ service: server.url, constant, rawKey } satisfies Ready);
  // Asked for nothing but its processor time, until it is told to stop.
  for (;;) {
    const [message] = (await once(process, 'message')) as [unknown];
    if (message === 'stop') break;
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  }
  plain.close();
  await server.close(0);
  await ledger.close();
  rmSync(directory, { recursive: true });
  process.exit(0);
}

/** One account with `rows` settled requests, spread over the last 90 days; the audit holds. */
async function fill(path: string, rows: number): Promise<string> {
  const ledger = openLedger({ path, secret: SECRET });
  const { id: accountId } = await ledger.createAccount({ email: 'ada@example.org', name: 'Ada' });
  const key = await ledger.createKey({ accountId, name: 'laptop', scopes: [] });
  await ledger.grantCredits({ accountId, amount: rows + 500 });
  const database = new Database(path);
  const numbers = `WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < @rows)`;
  const at = `@now - (n.id % ${DAYS}) * ${DAY_MS}`;
  const statements = [
    `INSERT INTO holds (id, account_id, key_id, request_id, credits, created_at, settled_at)
     ${numbers} SELECT n.id, @accountId, @keyId, format('req_%d', n.id), 1, ${at}, ${at} FROM n`,
    'INSERT INTO hold_parts (hold_id, pack_id, credits) SELECT id, 1, 1 FROM holds',
    `INSERT INTO usage_events
       (hold_id, account_id, key_id, request_id, endpoint, audio_ms, minutes, credits, created_at)
     SELECT id, account_id, key_id, request_id, '/api/v1/transcribe', 30000, 1, credits, settled_at FROM holds`,
    `INSERT INTO usage_days (account_id, day, endpoint, requests, minutes, credits)
     SELECT account_id, created_at / ${DAY_MS}, endpoint, count(*), sum(minutes), sum(credits)
     FROM usage_events GROUP BY 1, 2, 3`,
    'UPDATE credit_packs SET spent = @rows, remaining = remaining - @rows',
  ];
  const input = { rows, accountId, keyId: key.id, now: Date.now() };
  database.transaction(() => {
    for (const sql of statements) database.prepare(sql).run(input);
  })();
  database.close();
  const violations = await ledger.audit();
  await ledger.close();
  if (violations.length > 0) throw new Error(JSON.stringify(violations));
  return key.rawKey;
}

void main();
