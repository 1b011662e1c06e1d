/** How many small requests a route answers, and what they cost its server. */
import { Pool } from 'undici';
import { processorMsOfAll } from '../processes/process-usage.js';
import { percentile } from '../reports/statistics.js';
import { loadClock } from './clock.js';
import { closedLoop, during } from './closed-loop.js';

export interface Endpoint {
  name: string;
  origin: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  /** Of the server. */
  pid: number;
}

export interface RequestRate {
  perSecond: number;
  /** Processor time of the server for one request, microseconds: what a busy machine disturbs least. */
  cpuMicros: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

/** Every connection sends its next request when it has the answer to the last. Rejects with an Error for a status that is not 200. */
export async function requestRate(
  { origin, path, headers, pid }: Endpoint,
  { connections, milliseconds }: { connections: number; milliseconds: number },
  clock = loadClock,
): Promise<RequestRate> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  try {
    const cpuBefore = processorMsOfAll(pid);
    const start = clock.now();
    const send = async (): Promise<void> => {
      const { statusCode, body } = await pool.request({ path, method: 'GET', headers });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${path} answered ${statusCode} ${text}`);
    };
    const timed = await closedLoop(during(milliseconds, path, clock), connections, send, clock);
    const latencies = timed.map((one) => one.milliseconds);
    return {
      perSecond: timed.length / ((clock.now() - start) / 1000),
      cpuMicros: (1000 * (processorMsOfAll(pid) - cpuBefore)) / timed.length,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
    };
  } finally {
    await pool.close();
  }
}
