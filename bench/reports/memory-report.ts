/** What was found of a server's memory, as tables, charts and sentences. */
import type { Chart } from './charts.js';
import { memoryParts, type ServerMemory } from '../load/memory.js';
import { rounded, type Table } from './report.js';
import { memorySlope, type SoakResult } from '../load/soak.js';

export interface MemoryFound {
  servers: readonly ServerMemory[];
  /** null where no load was asked for. */
  load: SoakResult | null;
  warmUpMinutes: number;
}

export function mib(bytes: number): number {
  return rounded(bytes / 2 ** 20);
}

export function memoryTables({ servers, load, warmUpMinutes }: MemoryFound): Table[] {
  const parts = memoryParts(servers);
  const tables: Table[] = [
    {
      title: 'What it is made of',
      rows: [
        { part: 'server and model, without slots', MiB: mib(parts.base) },
        { part: 'a slot, idle', MiB: mib(parts.perSlot) },
        { part: 'the first request', MiB: mib(parts.firstRequest) },
        { part: 'a window in flight', MiB: mib(parts.perWindow) },
      ],
    },
    {
      title: 'Servers',
      rows: servers.map(({ slots, idle, after, inFlight }) => ({
        slots,
        'idle MiB': mib(idle),
        'highest MiB with 1, 2, ... windows in flight': inFlight.map(mib).join(', '),
        'afterwards MiB': mib(after),
      })),
    },
  ];
  return load === null ? tables : [...tables, slopeTable(load, warmUpMinutes), outcomeTable(load)];
}

function slopeTable({ samples }: SoakResult, warmUpMinutes: number): Table {
  const { slope, margin, autocorrelation } = memorySlope(samples, warmUpMinutes * 60);
  const settled = samples
    .filter(({ seconds }) => seconds >= warmUpMinutes * 60)
    .map(({ residentBytes }) => residentBytes);
  const row = {
    minutes: rounded((samples.at(-1)?.seconds ?? 0) / 60),
    samples: settled.length,
    'lowest MiB': mib(Math.min(...settled)),
    'highest MiB': mib(Math.max(...settled)),
    'slope MiB/h': mib(slope),
    '95 % margin': mib(margin),
    'correlation of neighbours': rounded(autocorrelation),
  };
  return { title: `Mixed load, after ${rounded(warmUpMinutes)} minutes to warm up`, rows: [row] };
}

function outcomeTable({ outcomes }: SoakResult): Table {
  const rows = Object.entries(outcomes).map(([kind, counts]) => ({
    request: kind,
    'answers by status (0: none)': Object.entries(counts)
      .map(([status, count]) => `${status}: ${count}`)
      .join(', '),
  }));
  return { title: 'Answers', rows };
}

export function memoryCharts({ servers, load, warmUpMinutes }: MemoryFound): Chart[] {
  const charts: Chart[] = [
    {
      ...{ kind: 'lines', name: 'windows', title: 'Memory by windows in flight' },
      ...{ x: 'windows in flight', y: 'MiB, highest seen' },
      series: servers.map(({ slots, idle, inFlight }) => ({
        name: `${slots} slots`,
        points: [idle, ...inFlight].map((bytes, windows): [number, number] => [windows, mib(bytes)]),
      })),
    },
  ];
  if (load === null) return charts;
  const { slope, intercept } = memorySlope(load.samples, warmUpMinutes * 60);
  const ends = [warmUpMinutes, (load.samples.at(-1)?.seconds ?? 0) / 60];
  charts.push({
    ...{ kind: 'lines', name: 'load', title: 'Memory under mixed load', x: 'minutes', y: 'MiB' },
    series: [
      {
        name: 'resident',
        points: load.samples.map(({ seconds, residentBytes }) => [seconds / 60, residentBytes / 2 ** 20]),
      },
      {
        name: 'least squares',
        points: ends.map((minutes) => [minutes, (intercept + (slope * minutes) / 60) / 2 ** 20]),
      },
    ],
  });
  return charts;
}

export function memoryNotes({ load, warmUpMinutes }: MemoryFound): string[] {
  const parts =
    'Resident set of the server alone. A slot keeps what it grew by, so that the windows of a slot cost once; ' +
    'lines by least squares.';
  if (load === null) return [parts];
  const { slope, margin } = memorySlope(load.samples, warmUpMinutes * 60);
  const verdict =
    Math.abs(slope) <= margin
      ? 'which cannot be distinguished from no growth'
      : `which is ${slope > 0 ? 'growth' : 'shrinking'}`;
  return [
    parts,
    `Slope ${mib(slope)} MiB an hour, 95 % confidence ${mib(slope - margin)} to ${mib(slope + margin)}, ${verdict}.`,
    'The load: 72 % clips, 10 % with translation, 8 % files cut short, 8 % clients that hang up, 2 % files of two ' +
      'minutes; Poisson arrivals.',
  ];
}
