import type { Command } from 'commander';
import { integerFrom, positiveNumber } from '../../src/cli/options.js';
import { sweep, type Measured } from '../engine/sweep.js';
import type { RequestRate, Endpoint } from '../load/request-rate.js';
import { rounded, withSpread, type Table } from '../reports/report.js';
import { median, pairedRatios, summarize } from '../reports/statistics.js';
import type { BenchParts } from './parts.js';
import {
  addOutputOptions,
  benchContext,
  progress,
  publish,
  roundsOption,
  type OutputOptions,
} from './setup.js';

interface Options extends OutputOptions {
  rounds: number;
  seconds: number;
  connections: number;
  rows: number;
}

type MeasuredRoute = Measured<Endpoint, RequestRate>;

/** A round of the warm-up is no longer than this. */
const WARM_UP_SECONDS = 2;

export function addBenchMeUsage(bench: Command, parts: BenchParts): void {
  const command = bench
    .command('me-usage')
    .description(
      'GET /me and GET /usage of a server beside an Express route that answers a constant, in turns',
    )
    .option('--seconds <n>', 'length of a round', positiveNumber, 3)
    .option('--connections <n>', 'each with one request at a time', integerFrom(1), 16)
    .option('--rows <n>', "of the account's usage, spread over 90 days", integerFrom(0), 100_000);
  addOutputOptions(command.addOption(roundsOption(7))).action((options: Options) =>
    benchMeUsage(options, parts),
  );
}

async function benchMeUsage(options: Options, parts: BenchParts): Promise<void> {
  const { environment } = benchContext();
  const { rounds, seconds, connections, rows } = options;
  const measured = await measure(options, parts);
  publish(
    {
      name: 'me-usage',
      title: '/me and /usage beside a constant',
      environment,
      models: [],
      settings: { seconds, connections, 'usage rows': rows },
      warmUp: `${Math.min(seconds, WARM_UP_SECONDS)} s of each route`,
      runs: rounds,
      tables: [rateTable(measured)],
      charts: [],
      notes: [
        'The server as it is shipped, its log written and thrown away, and the constant in a process of its own; the load comes from a third one.',
        'Rounds go there and back, and every ratio is of the same round: what else the machine does hits all alike.',
      ],
      measurements: measured.map(({ cell, passes }) => ({ route: cell.name, passes })),
    },
    options,
  );
}

async function measure(
  { rounds, seconds, connections, rows }: Options,
  { startVerbatim, startConstantServer, requestRate }: BenchParts,
): Promise<MeasuredRoute[]> {
  const server = await startVerbatim({ usageRows: rows, discardsLog: true });
  const constant = await startConstantServer();
  try {
    const routes = routesOf(server, constant);
    const rate = (route: Endpoint, length: number): Promise<RequestRate> =>
      requestRate(route, { connections, milliseconds: length * 1000 });
    for (const route of routes) await rate(route, Math.min(seconds, WARM_UP_SECONDS));
    return await sweep(routes, {
      rounds,
      measure: (route) => rate(route, seconds),
      onStep: (done, total, { name }) => progress(`${done + 1}/${total}: ${name}`),
      thereAndBack: true,
    });
  } finally {
    await constant.stop();
    await server.stop();
  }
}

type Origin = Record<'url', string> & Record<'pid', number>;

function routesOf(server: Origin & { keys: readonly string[] }, constant: Origin): Endpoint[] {
  const headers = { authorization: `Bearer ${server.keys[0] ?? ''}` };
  const service = { origin: server.url, pid: server.pid, headers };
  return [
    { name: 'constant', path: '/constant', headers, origin: constant.url, pid: constant.pid },
    { name: '/me', path: '/api/v1/me', ...service },
    { name: '/usage', path: '/api/v1/usage', ...service },
  ];
}

function rateTable(measured: readonly MeasuredRoute[]): Table {
  const constant = measured[0]?.passes ?? [];
  const rows = measured.map(({ cell, passes }) => {
    const middle = (value: (pass: RequestRate) => number): number => rounded(median(passes.map(value)));
    const beside = (value: (pass: RequestRate) => number): string =>
      withSpread(summarize(pairedRatios(passes.map(value), constant.map(value))));
    return {
      route: cell.name,
      'requests/s': middle(({ perSecond }) => perSecond),
      'p50 ms': middle(({ p50 }) => p50),
      'p99 ms': middle(({ p99 }) => p99),
      'CPU us': middle(({ cpuMicros }) => cpuMicros),
      'requests/s beside the constant': beside(({ perSecond }) => perSecond),
      'p99 beside it': beside(({ p99 }) => p99),
      'CPU beside it': beside(({ cpuMicros }) => cpuMicros),
    };
  });
  return { title: 'Routes', rows };
}
