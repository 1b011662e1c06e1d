/**
 * What several servers behind one balancer and on one database do, and which part of it costs how much processor time.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { Client } from 'pg';
import type { Ledger } from '../../src/ledger/ledger.js';
import { startBalancer } from '../processes/balancer.js';
import { freePort } from '../processes/free-port.js';
import { processorMs } from '../processes/process-usage.js';
import { startVerbatim, type VerbatimOptions, type VerbatimProcess } from '../processes/verbatim-process.js';
import { percentile, sum } from '../reports/statistics.js';
import { closedLoop } from './closed-loop.js';
import { verbatimTarget, type HttpTarget, type Upload } from './http-target.js';
import { BENCH_SECRET, openLedgerOf } from './ledger-nodes.js';

export interface NodesLoad {
  /** postgres://…; accounts are made there. */
  database: string;
  /** At least 1. */
  nodes: number;
  /** As each is started, but for database and ports. */
  serving: VerbatimOptions;
  uploads: readonly Upload[];
  /** In all, of so many clients at a time, each of an account of its own. */
  requests: number;
  clients: number;
}

/** Processor time for one request, milliseconds; null: the database is not on this machine. */
export interface Shares {
  shell: number;
  engine: number;
  database: number | null;
  balancer: number;
}

export interface NodesResult {
  requestsPerSecond: number;
  audioPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  shares: Shares;
}

const CREDITS = 1_000_000_000;
const READY_MS = 60_000;

/** Rejects with an Error for an answer that is not 200. */
export async function measureNodes(load: NodesLoad): Promise<NodesResult> {
  const keys = await makeKeys(load);
  const nodes: Node[] = [];
  try {
    for (let n = 0; n < load.nodes; n++) nodes.push(await startNode(load));
    const balancer = await startBalancer(nodes);
    try {
      const target = verbatimTarget(balancer.url, keys);
      await untilReady(balancer.url);
      await send(target, load, 2 * load.nodes);
      const parts = await partsOf(nodes, balancer.pid, load.database);
      const before = parts.map(processorTimes);
      const start = performance.now();
      const timed = await send(target, load, load.requests);
      const seconds = (performance.now() - start) / 1000;
      const used = parts.map((part, index) => perRequest(processorTimes(part), before[index], load.requests));
      const latencies = timed.map(({ milliseconds }) => milliseconds);
      return {
        requestsPerSecond: load.requests / seconds,
        audioPerSecond: sum(timed.map(({ value }) => value)) / seconds,
        p50: percentile(latencies, 0.5),
        p99: percentile(latencies, 0.99),
        shares: sharesOf(used),
      };
    } finally {
      await balancer.stop();
    }
  } finally {
    await Promise.all(nodes.map(({ server }) => server.stop()));
  }
}

interface Node {
  server: VerbatimProcess;
  port: number;
  agentPort: number;
}

async function startNode({ database, serving }: NodesLoad): Promise<Node> {
  const [port, agentPort] = [await freePort(), await freePort()];
  const env = {
    ...serving.env,
    VERBATIM_DATABASE: database,
    VERBATIM_SECRET: BENCH_SECRET,
    VERBATIM_PORT: String(port),
    VERBATIM_AGENT_PORT: String(agentPort),
    VERBATIM_TRUST_PROXY: 'loopback',
  };
  return {
    server: await startVerbatim({ ...serving, env, credits: [], discardsLog: true }),
    port,
    agentPort,
  };
}

async function makeKeys({ database, clients }: NodesLoad): Promise<string[]> {
  const ledger = await openLedgerOf(database);
  try {
    return await Promise.all(Array.from({ length: clients }, (_, n) => makeKey(ledger, n)));
  } finally {
    await ledger.close();
  }
}

async function makeKey(ledger: Ledger, client: number): Promise<string> {
  const email = `ledger-bench-${process.pid}-${Date.now()}-${client}@localhost`;
  const { id: accountId } = await ledger.accounts.create({ email });
  await ledger.credits.grant({ accountId, amount: CREDITS });
  return (await ledger.keys.create({ accountId, name: 'bench', scopes: [] })).rawKey;
}

async function untilReady(url: string): Promise<void> {
  const end = performance.now() + READY_MS;
  while (performance.now() < end) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`The balancer at ${url} has had no node for ${READY_MS / 1000} s.`);
}

/** Seconds of audio of each. */
async function send(
  target: HttpTarget,
  { uploads, clients }: NodesLoad,
  requests: number,
): Promise<{ value: number; milliseconds: number }[]> {
  const items = Array.from({ length: requests }, (_, n) => uploads[n % uploads.length]);
  return closedLoop(items, clients, async (upload, client) => {
    if (upload === undefined) throw new Error('There is nothing to send.');
    const { status } = await target.send(upload, client);
    if (status !== 200) throw new Error(`${upload.name} was answered ${status}.`);
    return upload.seconds;
  });
}

type PartName = keyof Shares;

interface Part {
  name: PartName;
  /** null: of another machine. */
  pids: readonly number[] | null;
}

async function partsOf(nodes: readonly Node[], balancer: number, database: string): Promise<Part[]> {
  const shells = nodes.map(({ server }) => server.pid);
  return [
    { name: 'shell', pids: shells },
    { name: 'engine', pids: shells.flatMap(childrenOf) },
    { name: 'database', pids: await backendsOf(database) },
    { name: 'balancer', pids: [balancer] },
  ];
}

function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const text = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')).join(' ');
  return text.split(/\s+/).filter(Boolean).map(Number);
}

/** The processes of PostgreSQL that work for the nodes; null: they are on another machine. */
async function backendsOf(database: string): Promise<number[] | null> {
  const client = new Client({ connectionString: database });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'verbatim'`,
    );
    const pids = rows.map(({ pid }) => pid);
    return pids.every(isPostgres) ? pids : null;
  } finally {
    await client.end();
  }
}

function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres');
  } catch {
    return false;
  }
}

interface Times {
  name: PartName;
  milliseconds: number | null;
}

/** A process that has ended meanwhile (a connection that was closed) is not counted. */
function processorTimes({ name, pids }: Part): Times {
  if (pids === null) return { name, milliseconds: null };
  const times = pids.map((pid) => {
    try {
      return processorMs(pid);
    } catch {
      return 0;
    }
  });
  return { name, milliseconds: sum(times) };
}

function perRequest({ name, milliseconds }: Times, before: Times | undefined, requests: number): Times {
  const since = before?.milliseconds ?? 0;
  return { name, milliseconds: milliseconds === null ? null : Math.max(0, milliseconds - since) / requests };
}

function sharesOf(used: readonly Times[]): Shares {
  const of = (name: PartName): number | null => used.find((times) => times.name === name)?.milliseconds ?? null;
  return {
    ...{ shell: of('shell') ?? 0, engine: of('engine') ?? 0, balancer: of('balancer') ?? 0 },
    database: of('database'),
  };
}
