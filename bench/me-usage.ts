/**
 * What GET /me and GET /usage cost beside an Express route that answers a constant: `npm run bench:me-usage`. One server
 * process has both; the load comes from this one. Rounds alternate, so that whatever else the machine does hits all alike.
 * ROUNDS (7), SECONDS a round (3), CONNECTIONS (16), ROWS of usage (100,000).
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import type { Ready } from './me-usage-server.js';

const setting = (name: string, fallback: number): number => Number(process.env[name] ?? fallback);
const ROUNDS = setting('ROUNDS', 7);
const ROUND_MS = setting('SECONDS', 3) * 1000;
const WARM_UP_MS = Math.min(ROUND_MS, 2000);
const CONNECTIONS = setting('CONNECTIONS', 16);
const ROWS = setting('ROWS', 100_000);

interface Target {
  name: string;
  origin: string;
  path: string;
  headers: Record<string, string>;
}

interface Round {
  perSecond: number;
  /** Processor time of the server for one request, microseconds: what a busy machine disturbs least. */
  cpuMicros: number;
  p50: number;
  p99: number;
}

async function main(): Promise<void> {
  const server = fork(join(__dirname, 'me-usage-server.ts'), [String(ROWS)], { execArgv: ['-r', 'tsx/cjs'] });
  try {
    const ready = await untilReady(server);
    console.log(
      `${machine()}; ${CONNECTIONS} connections, ${ROWS} usage rows, ${ROUNDS} rounds of ${ROUND_MS} ms`,
    );
    report(await measure(server, targets(ready)));
  } finally {
    const exited = once(server, 'exit');
    server.send('stop');
    await exited;
  }
}

async function untilReady(server: ChildProcess): Promise<Ready> {
  const ended = once(server, 'exit').then(() => Promise.reject(new Error('The server ended.')));
  ended.catch(() => undefined);
  const [ready] = (await Promise.race([once(server, 'message'), ended])) as [Ready];
  return ready;
}

function targets({ service, constant, rawKey }: Ready): Target[] {
  const headers = { authorization: `Bearer ${rawKey}` };
  return [
    { name: 'constant', origin: constant, path: '/constant', headers },
    { name: '/me', origin: service, path: '/api/v1/me', headers },
    { name: '/usage', origin: service, path: '/api/v1/usage', headers },
  ];
}

async function measure(server: ChildProcess, all: readonly Target[]): Promise<Map<string, Round[]>> {
  const rounds = new Map<string, Round[]>(all.map(({ name }) => [name, []]));
  for (const target of all) await run(server, target, WARM_UP_MS);
  for (let round = 0; round < ROUNDS; round++) {
    // There and back, so that no target always comes after the same other.
    const order = round % 2 === 0 ? all : [...all].reverse();
    for (const target of order) rounds.get(target.name)?.push(await run(server, target, ROUND_MS));
  }
  return rounds;
}

/** Every connection sends its next request when it has the answer to the last. */
async function run(
  server: ChildProcess,
  { origin, path, headers }: Target,
  milliseconds: number,
): Promise<Round> {
  const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });
  const latencies: number[] = [];
  const cpuBefore = await cpuMicros(server);
  const startedAt = performance.now();
  const worker = async (): Promise<void> => {
    while (performance.now() - startedAt < milliseconds) {
      const sentAt = performance.now();
      const { statusCode, body } = await pool.request({ path, method: 'GET', headers });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${path} answered ${statusCode} ${text}`);
      latencies.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = (await cpuMicros(server)) - cpuBefore;
  await pool.close();
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? NaN;
  const perSecond = latencies.length / seconds;
  return { perSecond, cpuMicros: cpu / latencies.length, p50: at(0.5), p99: at(0.99) };
}

async function cpuMicros(server: ChildProcess): Promise<number> {
  server.send('cpu');
  const [micros] = (await once(server, 'message')) as [number];
  return micros;
}

function report(rounds: ReadonlyMap<string, readonly Round[]>): void {
  const constant = rounds.get('constant') ?? [];
  console.log(
    '| route | requests/s | p50 ms | p99 ms | CPU us | requests/s, share | p99, times | CPU, times |',
  );
  console.log('| :-- | --: | --: | --: | --: | --: | --: | --: |');
  for (const [name, own] of rounds) {
    const ratio = (pick: (round: Round) => number): string => {
      const ratios = own.map((round, index) => pick(round) / pick(constant[index] ?? round));
      return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)})`;
    };
    const cells = [
      name,
      median(own.map(({ perSecond }) => perSecond)).toFixed(0),
      median(own.map(({ p50 }) => p50)).toFixed(1),
      median(own.map(({ p99 }) => p99)).toFixed(1),
      median(own.map(({ cpuMicros: micros }) => micros)).toFixed(0),
      ratio(({ perSecond }) => perSecond),
      ratio(({ p99 }) => p99),
      ratio(({ cpuMicros: micros }) => micros),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

function machine(): string {
  const load = loadavg()[0]?.toFixed(1) ?? '?';
  return `${cpus().length} x ${cpus()[0]?.model ?? 'unknown CPU'}, load ${load}, Node ${process.version}`;
}

void main();
