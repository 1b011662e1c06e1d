/** What the steps of an open-loop load found, as a table and charts. */
import type { LineChart } from './charts.js';
import type { LoadResult } from '../load/open-loop.js';
import { rounded, type Table } from './report.js';
import type { Percentiles } from './statistics.js';

export function loadTable(steps: readonly LoadResult[], p95BoundMs: number): Table {
  const rows = [...steps]
    .sort((a, b) => a.rate - b.rate)
    .map(({ rate, sent, answered, refused, failed, latency, queue, rtfx }) => ({
      'requests/s': rounded(rate),
      sent,
      answered,
      refused,
      failed,
      'p50 ms': latency && Math.round(latency.p50),
      'p95 ms': latency && Math.round(latency.p95),
      'p99 ms': latency && Math.round(latency.p99),
      'queue p50/p95 ms': queue && `${Math.round(queue.p50)}/${Math.round(queue.p95)}`,
      RTFx: rounded(rtfx),
      [`p95 under ${p95BoundMs} ms`]: latency !== null && latency.p95 <= p95BoundMs ? 'yes' : 'no',
    }));
  return { title: 'Load', rows };
}

export function loadCharts(steps: readonly LoadResult[]): LineChart[] {
  const axes = { kind: 'lines', x: 'requests a second', y: 'ms' } as const;
  const throughput = steps.map(({ rate, rtfx }) => [rate, rtfx] as const);
  return [
    { ...axes, name: 'latency', title: 'Latency by load', series: lines(steps, ({ latency }) => latency) },
    { ...axes, name: 'queue', title: 'Wait for the first slot', series: lines(steps, ({ queue }) => queue) },
    {
      ...{ ...axes, name: 'throughput', title: 'Throughput by load', y: 'seconds of audio a second' },
      series: [{ name: 'answered', points: throughput }],
    },
  ];
}

function lines(steps: readonly LoadResult[], of: (step: LoadResult) => Percentiles | null): LineChart['series'] {
  return (['p50', 'p95', 'p99'] as const).map((name) => ({
    name,
    points: steps.flatMap((step) => {
      const value = of(step)?.[name];
      return value === undefined ? [] : [[step.rate, value] as const];
    }),
  }));
}
