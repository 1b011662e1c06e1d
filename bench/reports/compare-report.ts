/** What the comparison with whisper.cpp's own programs found, as tables and charts. */
import { basename } from 'node:path';
import type { BarChart } from './charts.js';
import type { PeerPass } from '../processes/peers.js';
import { rounded, withSpread, type Table } from './report.js';
import { median, pairedRatios, summarize } from './statistics.js';
import { fairnessChart, fairnessTable, type NamedFairness } from './fairness-report.js';

/** The same clips, with their language given in one way. */
export interface ComparedWork {
  language: string;
  audioSeconds: number;
  /** By program, in the order of the rounds. */
  passes: Record<string, PeerPass[]>;
}

export interface ComparedModel {
  model: string;
  clips: number;
  audioSeconds: number;
  works: ComparedWork[];
  /** Of a server, highest so far. */
  peakBytes: Record<string, number>;
  /** Where a long file was asked for. */
  shortSeconds?: number;
  longSeconds?: number;
  fairness?: NamedFairness[];
}

export function compareTables(compared: readonly ComparedModel[]): Table[] {
  const rows = compared.flatMap((model) => model.works.flatMap((work) => workRows(model, work)));
  const fairness = compared.flatMap(({ model, ...found }) => {
    if (found.fairness === undefined) return [];
    const { title, rows } = fairnessTable(found.fairness, found.shortSeconds ?? 0, found.longSeconds ?? 0);
    return [{ title: `${basename(model)}: ${title}`, rows }];
  });
  return [{ title: 'Throughput', rows }, ...fairness];
}

function workRows({ model, peakBytes }: ComparedModel, { language, passes }: ComparedWork): Table['rows'] {
  const ours = ratesOf(passes, 'verbatim');
  return Object.entries(passes).map(([program, runs]) => {
    const bytes = peakBytes[program];
    return {
      model: basename(model),
      language,
      program,
      RTFx: withSpread(summarize(ratesOf(passes, program))),
      'p50 ms': latencyOf(runs, 'p50'),
      'p95 ms': latencyOf(runs, 'p95'),
      'peak MiB': bytes === undefined ? null : Math.round(bytes / 2 ** 20),
      'verbatim is faster by': withSpread(summarize(pairedRatios(ours, ratesOf(passes, program)))),
    };
  });
}

function ratesOf(passes: ComparedWork['passes'], program: string): number[] {
  return (passes[program] ?? []).map(({ rtfx }) => rtfx);
}

function latencyOf(runs: readonly PeerPass[], which: 'p50' | 'p95'): number | null {
  const values = runs.flatMap(({ latency }) => (latency === null ? [] : [latency[which]]));
  return values.length === 0 ? null : Math.round(median(values));
}

export function compareCharts(compared: readonly ComparedModel[]): BarChart[] {
  return compared.flatMap((model, number) => [
    throughputChart(model, number),
    ...(model.fairness === undefined ? [] : [{ ...fairnessChart(model.fairness), name: `fairness-${number + 1}` }]),
  ]);
}

function throughputChart({ model, works }: ComparedModel, number: number): BarChart {
  const programs = Object.keys(works[0]?.passes ?? {});
  return {
    ...{ kind: 'bars', name: `throughput-${number + 1}`, title: `Throughput, ${basename(model)}` },
    ...{ x: 'language', y: 'seconds of audio a second' },
    categories: works.map(({ language }) => language),
    series: programs.map((name) => ({
      name,
      values: works.map(({ passes }) => rounded(median(ratesOf(passes, name)))),
    })),
  };
}
