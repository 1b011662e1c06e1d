/** What a sweep of the engine found, as a table and charts. */
import { basename } from 'node:path';
import type { LineChart } from './charts.js';
import { decoderText, deviceText, type EngineCell } from '../engine/engine-cells.js';
import type { EnginePass } from '../engine/engine-pass.js';
import { rounded, withSpread, type Table } from './report.js';
import { median, summarize } from './statistics.js';
import type { Measured } from '../engine/sweep.js';

type MeasuredCell = Measured<EngineCell, EnginePass>;
/** Of the path of a model file. */
type NameOf = (path: string) => string;

export function engineTable(measured: readonly MeasuredCell[], nameOf: NameOf): Table {
  const rows = measured.map(({ cell, passes }) => ({
    model: basename(nameOf(cell.modelPath)),
    weights: passes[0]?.weightType ?? null,
    device: deviceText(cell.devices),
    slots: cell.slots,
    threads: cell.threads,
    beam: cell.beam,
    decoder: decoderText(cell.decoder),
    RTFx: withSpread(summarize(passes.map(({ rtfx }) => rtfx))),
    ...costs(passes),
  }));
  return { title: 'Cells', rows };
}

function costs(passes: readonly EnginePass[]): Record<string, string | number> {
  const middle = (value: (pass: EnginePass) => number): number => rounded(median(passes.map(value)));
  const inModel = ({ melMs, encodeMs, decodeMs }: EnginePass): number => melMs + encodeMs + decodeMs;
  const share = (value: (pass: EnginePass) => number): number =>
    Math.round(100 * median(passes.map((pass) => value(pass) / inModel(pass))));
  return {
    'p50 ms': middle(({ latency }) => latency.p50),
    'p95 ms': middle(({ latency }) => latency.p95),
    'p99 ms': middle(({ latency }) => latency.p99),
    'mel/encoder/decoder %': [
      share(({ melMs }) => melMs),
      share(({ encodeMs }) => encodeMs),
      share(({ decodeMs }) => decodeMs),
    ].join('/'),
    'rows a step': middle(({ batchRows }) => batchRows),
    'tokens/s': middle(({ tokensPerSecond }) => tokensPerSecond),
    'peak MiB': Math.round(middle(({ peakMemoryBytes }) => peakMemoryBytes / 2 ** 20)),
    'busy cores': middle(({ busyCores }) => busyCores),
  };
}

export function engineCharts(measured: readonly MeasuredCell[], nameOf: NameOf): LineChart[] {
  const bySlots = (name: string, title: string, y: string, value: (pass: EnginePass) => number): LineChart => ({
    ...{ kind: 'lines', name, title, x: 'slots', y },
    series: seriesOf(measured, nameOf, (passes) => median(passes.map(value))),
  });
  return [
    bySlots('throughput', 'Throughput', 'seconds of audio a second', ({ rtfx }) => rtfx),
    bySlots('p50', 'Latency, median', 'ms', ({ latency }) => latency.p50),
    bySlots('p95', 'Latency, 95th percentile', 'ms', ({ latency }) => latency.p95),
    bySlots('memory', 'Peak memory', 'MiB', ({ peakMemoryBytes }) => peakMemoryBytes / 2 ** 20),
  ];
}

/** One line for all cells that differ in their slots only. */
function seriesOf(
  measured: readonly MeasuredCell[],
  nameOf: NameOf,
  value: (passes: readonly EnginePass[]) => number,
): LineChart['series'] {
  const lines = new Map<string, [number, number][]>();
  for (const { cell, passes } of measured) {
    const name = lineName(cell, nameOf);
    const points = lines.get(name) ?? [];
    points.push([cell.slots, value(passes)]);
    lines.set(name, points);
  }
  return [...lines].map(([name, points]) => ({ name, points }));
}

function lineName({ modelPath, devices, threads, beam, decoder }: EngineCell, nameOf: NameOf): string {
  const model = basename(nameOf(modelPath));
  const beamText = beam === 1 ? '' : `, beam ${beam}`;
  return `${model}, ${deviceText(devices)}, threads ${threads}${beamText}, ${decoderText(decoder)}`;
}
