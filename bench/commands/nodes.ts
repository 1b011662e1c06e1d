import type { Command } from 'commander';
import { integerFrom } from '../../src/cli/options.js';
import { integerList } from './lists.js';
import { checkPostgres, withoutPassword } from '../../src/service/database-address.js';
import { refuseUsed } from '../load/ledger-nodes.js';
import type { NodesResult } from '../load/nodes.js';
import { identifyModel } from '../reports/environment.js';
import { rounded, type Table } from '../reports/report.js';
import type { BenchParts } from './parts.js';
import { modelNamed, serving } from './bench-models.js';
import {
  addOutputOptions,
  benchContext,
  clipsOf,
  clipsOption,
  languageOption,
  modelOption,
  progress,
  publish,
  uploadsOf,
  type OutputOptions,
} from './setup.js';

interface Options extends OutputOptions {
  database: string;
  model?: string;
  clips: string;
  language: string;
  nodes: number[];
  requests: number;
  clients: number;
}

interface Found extends NodesResult {
  nodes: number;
}

const MOST_NODES = 16;

export function addBenchNodes(bench: Command, parts: BenchParts): void {
  const command = bench
    .command('nodes')
    .description(
      'clips through the shipped HAProxy to several servers of one thread on one PostgreSQL, and what each part costs',
    )
    .requiredOption('--database <address>', 'postgres://… of a database without accounts, which keeps those made there')
    .addOption(modelOption())
    .addOption(clipsOption())
    .addOption(languageOption())
    .option('--nodes <list>', 'servers, one after the other', integerList(MOST_NODES), [1, 2, 4])
    .option('--requests <n>', 'of each measurement', integerFrom(1), 200)
    .option('--clients <n>', 'requests in flight, each of an account of its own', integerFrom(1, 1000), 8);
  addOutputOptions(command).action((options: Options) => benchNodes(options, parts));
}

async function benchNodes(options: Options, parts: BenchParts): Promise<void> {
  const { language, nodes, requests, clients } = options;
  checkPostgres(options.database, '--database');
  const context = benchContext();
  const model = await modelNamed(context, options.model);
  const uploads = await uploadsOf(model, clipsOf(options.clips), language);
  await refuseUsed(options.database);
  const found: Found[] = [];
  for (const count of nodes) {
    progress(`${count} nodes`);
    const load = { database: options.database, nodes: count, uploads, requests, clients };
    const one = serving(model, { slots: 1, threads: 1, deviceSetting: context.config.deviceSetting });
    found.push({ nodes: count, ...(await parts.measureNodes({ ...load, serving: one })) });
  }
  publish(
    {
      name: 'nodes',
      title: 'Clips through HAProxy, by nodes of one thread',
      environment: context.environment,
      models: [await identifyModel(model.name, model.path)],
      settings: {
        database: withoutPassword(options.database),
        ...{ nodes: nodes.join(','), clips: uploads.length, language, clients },
      },
      warmUp: 'two requests a node',
      runs: requests,
      tables: [rateTable(found), shareTable(found)],
      charts: [],
      notes: [
        'Clients, balancer, nodes and, where it is here, the database share the processors of this machine.',
        "Processor time is what the processes used while the clips were answered; the database's is of the " +
          'connections that were open when it began.',
      ],
      measurements: found,
    },
    options,
  );
}

function rateTable(found: readonly Found[]): Table {
  const rows = found.map(({ nodes, requestsPerSecond, audioPerSecond, p50, p99 }) => ({
    nodes,
    'requests/s': rounded(requestsPerSecond),
    'audio s/s': rounded(audioPerSecond),
    'p50 ms': rounded(p50),
    'p99 ms': rounded(p99),
  }));
  return { title: 'Clips', rows };
}

function shareTable(found: readonly Found[]): Table {
  const rows = found.map(({ nodes, shares }) => ({
    nodes,
    engine: rounded(shares.engine),
    shell: rounded(shares.shell),
    PostgreSQL: shares.database === null ? 'elsewhere' : rounded(shares.database),
    HAProxy: rounded(shares.balancer),
  }));
  return { title: 'Processor time of a request, ms', rows };
}
