/** How often several nodes, each a process of its own, hold and charge a second on a ledger that they share. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { createPostgresLedger } from '../../src/ledger/postgres/ledger.js';
import { createLedger } from '../../src/ledger/sqlite/ledger.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { isPostgres } from '../../src/service/database-address.js';
import { UsageError } from '../../src/service/variables.js';
import { loaderOf } from '../processes/command-line.js';
import { SlowNetwork } from '../processes/slow-network.js';
import { stopProcess } from '../processes/server-under-test.js';
import { median, sum } from '../reports/statistics.js';

export interface LedgerLoad {
  /** A file's path, or postgres://…; accounts are made there. */
  address: string;
  /** At least 1. */
  nodes: number;
  /** Of each node to PostgreSQL; twice as many clients want them. On SQLite so many clients. */
  connections: number;
  /** Added to each round trip; 0 on SQLite, where there is none. */
  roundTripMs: number;
  /** That count; one before them does not. */
  seconds: number;
}

/** Settings of a node. */
type Orders = Pick<LedgerLoad, 'address' | 'connections' | 'seconds'>;

/** Of a second, of each node: the median of its seconds. */
export interface LedgerRate {
  ofEachNode: number[];
  perSecond: number;
}

/** Whoever measures makes these alone; the other is a first start's. */
const BENCH_EMAIL = /^(ledger-bench-[\w-]+|local)@localhost$/;
export const BENCH_SECRET = 'the secret of verbatim bench ledger';
const CREDITS = 1_000_000_000;
/** A slow disk is measured, too. */
const TIMEOUT_MS = 600_000;

/** Rejects with an Error when a node fails. */
export async function measureLedgerNodes(load: LedgerLoad): Promise<LedgerRate> {
  const network = load.roundTripMs > 0 ? await SlowNetwork.to(load.address, load.roundTripMs) : null;
  const address = network?.address ?? load.address;
  const nodes = Array.from({ length: load.nodes }, () => startNode());
  try {
    for (const node of nodes) node.send({ ...load, address } satisfies Orders);
    await Promise.all(nodes.map(answerOf)); // their ledgers are open
    for (const node of nodes) node.send('go');
    const counts = (await Promise.all(nodes.map(answerOf))) as number[][];
    const ofEachNode = counts.map(median);
    return { ofEachNode, perSecond: sum(ofEachNode) };
  } finally {
    await Promise.all(nodes.map(stopProcess));
    await network?.close();
  }
}

/** The ledger, for a node or for whoever looks at it. */
export async function openLedgerOf(address: string, connections = 1): Promise<Ledger> {
  if (!isPostgres(address)) return createLedger({ path: address, lockTimeoutMs: TIMEOUT_MS });
  return createPostgresLedger({ url: address, secret: BENCH_SECRET, connections, timeoutMs: TIMEOUT_MS });
}

/** Throws UsageError when others have accounts on PostgreSQL's ledger. */
export async function refuseUsed(database: string): Promise<void> {
  const ledger = await openLedgerOf(database);
  try {
    const accounts = await ledger.accounts.list();
    if (accounts.every(({ email }) => BENCH_EMAIL.test(email))) return;
    throw new UsageError('--database has accounts; name a database without any.');
  } finally {
    await ledger.close();
  }
}

function startNode(): ChildProcess {
  return fork(__filename, [], {
    execArgv: loaderOf(__filename),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

async function answerOf(node: ChildProcess): Promise<unknown> {
  const ended = once(node, 'exit').then(() => Promise.reject(new Error('A node ended: see above.')));
  const [answer] = (await Promise.race([once(node, 'message'), ended])) as unknown[];
  return answer;
}

/** Holds and charges in each of its seconds. */
async function chargesBySecond(ledger: Ledger, { connections, seconds }: Orders): Promise<number[]> {
  const owner = await ownAccount(ledger);
  let charged = 0;
  let over = false;
  const client = async (): Promise<void> => {
    // SQLite answers at once: without a turn of the loop no time would pass.
    for (; !over; charged++) await charge(ledger, owner).then(() => setImmediate());
  };
  const clients = Array.from({ length: 2 * connections }, client);
  const counts: number[] = [];
  for (let second = 0, before = 0; second <= seconds; second++, before = charged) {
    const start = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    counts.push(((charged - before) * 1000) / (performance.now() - start));
  }
  over = true;
  await Promise.all(clients);
  return counts.slice(1);
}

async function ownAccount(ledger: Ledger): Promise<{ accountId: string; keyId: string }> {
  const email = `ledger-bench-${process.pid}-${Date.now()}@localhost`;
  const { id: accountId } = await ledger.accounts.create({ email });
  await ledger.credits.grant({ accountId, amount: CREDITS });
  return { accountId, keyId: (await ledger.keys.create({ accountId, name: 'bench', scopes: [] })).id };
}

async function charge(ledger: Ledger, owner: { accountId: string; keyId: string }): Promise<void> {
  const { id } = await ledger.holds.place({ ...owner, requestId: 'req_bench', credits: 1, mostInFlight: 64 });
  await ledger.holds.settle(id, {
    ...{ credits: 1, endpoint: '/api/v1/transcribe', audioSeconds: 30, minutes: 1, requestId: 'req_bench' },
    ...{ transcriptionId: 'tr_bench', language: 'en', model: null, result: {} },
  });
}

async function beNode(orders: Orders): Promise<void> {
  const ledger = await openLedgerOf(orders.address, orders.connections);
  const started = once(process, 'message');
  process.send?.('ready');
  await started;
  const counts = await chargesBySecond(ledger, orders);
  await ledger.close();
  process.send?.(counts, () => process.disconnect());
}

if (require.main === module) process.once('message', (orders: Orders) => void beNode(orders));
