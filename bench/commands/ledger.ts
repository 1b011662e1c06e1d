import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { integerFrom } from '../../src/cli/options.js';
import { integerList } from './lists.js';
import { checkPostgres, withoutPassword } from '../../src/service/database-address.js';
import { UsageError } from '../../src/service/variables.js';
import { refuseUsed, type LedgerRate } from '../load/ledger-nodes.js';
import type { BarChart } from '../reports/charts.js';
import { rounded, type Table } from '../reports/report.js';
import type { BenchParts } from './parts.js';
import { addOutputOptions, benchContext, progress, publish, type OutputOptions } from './setup.js';

interface Options extends OutputOptions {
  database?: string;
  nodes: number[];
  delay: number;
  seconds: number;
}

interface Found extends LedgerRate {
  nodes: number;
}

const MOST_NODES = 64;
/** Of each node; twice as many clients want them. */
const CONNECTIONS = 2;

export function addBenchLedger(bench: Command, parts: BenchParts): void {
  const command = bench
    .command('ledger')
    .description('holds and charges a second of several nodes, each a process of its own, that share one ledger')
    .option(
      '--database <address>',
      'postgres://… of a database without accounts, which keeps those made there (default: SQLite, in a temporary ' +
        'directory)',
    )
    .option('--nodes <list>', 'how many, one after the other', integerList(MOST_NODES), [1, 2, 4])
    .option('--delay <ms>', 'added to each round trip to PostgreSQL', integerFrom(0, 10_000), 0)
    .option('--seconds <n>', 'that each is measured', integerFrom(1), 8);
  addOutputOptions(command).action((options: Options) => benchLedger(options, parts));
}

async function benchLedger(options: Options, parts: BenchParts): Promise<void> {
  const { nodes, delay, seconds, database = null } = options;
  if (database === null && delay > 0) throw new UsageError('--delay is of a network; SQLite has none.');
  if (database !== null) checkPostgres(database, '--database');
  const { environment } = benchContext();
  const found = await onLedger(database, (address) => measure(address, options, parts));
  publish(
    {
      name: 'ledger',
      title: 'Holds and charges a second, by nodes',
      environment,
      models: [],
      settings: {
        database: database === null ? 'SQLite' : withoutPassword(database),
        ...{ nodes: nodes.join(','), 'delay ms': delay, connections: CONNECTIONS, clients: 2 * CONNECTIONS },
      },
      warmUp: 'a second of each',
      runs: seconds,
      tables: [tableOf(found)],
      charts: [chartOf(found)],
      notes: [
        'Each client holds a credit and charges it, again and again; a node has an account of its own. A figure is ' +
          'the sum over the nodes of each one’s median second.',
        'Nodes, clients and, where it is here, the database share the processors of this machine.',
      ],
      measurements: found,
    },
    options,
  );
}

/** On those of a temporary directory, or on those of the address, which must be nobody's. */
export async function onLedger<T>(database: string | null, work: (address: string) => Promise<T>): Promise<T> {
  if (database !== null) {
    await refuseUsed(database);
    return work(database);
  }
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-'));
  try {
    return await work(join(directory, 'verbatim.db'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(
  address: string,
  { nodes: counts, delay: roundTripMs, seconds }: Options,
  { measureLedgerNodes }: BenchParts,
): Promise<Found[]> {
  const found: Found[] = [];
  for (const nodes of counts) {
    progress(`${nodes} nodes`);
    const rate = await measureLedgerNodes({ address, nodes, connections: CONNECTIONS, roundTripMs, seconds });
    found.push({ nodes, ...rate });
  }
  return found;
}

function tableOf(found: readonly Found[]): Table {
  const [first] = found;
  const rows = found.map(({ nodes, perSecond }) => ({
    nodes,
    'a second': Math.round(perSecond),
    'times the first': rounded(perSecond / (first?.perSecond ?? perSecond)),
  }));
  return { title: 'Holds and charges', rows };
}

function chartOf(found: readonly Found[]): BarChart {
  return {
    ...{ kind: 'bars', name: 'ledger', title: 'Holds and charges a second', x: 'nodes', y: 'a second' },
    categories: found.map(({ nodes }) => String(nodes)),
    series: [{ name: 'all nodes', values: found.map(({ perSecond }) => Math.round(perSecond)) }],
  };
}
