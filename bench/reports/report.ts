/** A report: everything as JSON, the tables as Markdown, the charts as SVG. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderSvg, type Chart } from './charts.js';
import type { Environment, ModelIdentity } from './environment.js';

/** In a table, or of a setting. */
export type Shown = string | number | null;

export interface Table {
  title: string;
  rows: readonly Readonly<Record<string, Shown>>[];
}

export interface Report {
  /** Names the files: engine, http, tune, ... */
  name: string;
  title: string;
  environment: Environment;
  models: readonly ModelIdentity[];
  settings: Readonly<Record<string, Shown>>;
  /** What was run before the first measurement. */
  warmUp: string;
  /** Measurements of each cell. */
  runs: number;
  tables: readonly Table[];
  charts: readonly Chart[];
  /** Sentences that a reader needs to judge the numbers. */
  notes: readonly string[];
  /** Every single measurement. */
  measurements: unknown;
}

/** Writes NAME.json, NAME.md and NAME-CHART.svg; returns their paths. */
export function writeReport(directory: string, report: Report): string[] {
  mkdirSync(directory, { recursive: true });
  return [
    write(directory, `${report.name}.json`, `${JSON.stringify(report, null, 2)}\n`),
    write(directory, `${report.name}.md`, `${toMarkdown(report)}\n${chartLines(report).join('\n')}`),
    ...writeCharts(directory, report),
  ];
}

/** Writes NAME-CHART.svg for each chart; returns their paths. */
export function writeCharts(directory: string, report: Pick<Report, 'name' | 'charts'>): string[] {
  mkdirSync(directory, { recursive: true });
  return report.charts.map((chart) => write(directory, chartFile(report, chart), renderSvg(chart)));
}

function write(directory: string, file: string, text: string): string {
  const path = join(directory, file);
  writeFileSync(path, text);
  return path;
}

function chartFile({ name }: Pick<Report, 'name'>, chart: Chart): string {
  return `${name}-${chart.name}.svg`;
}

function chartLines(report: Report): string[] {
  return report.charts.flatMap((chart) => [`![${chart.title}](${chartFile(report, chart)})`, '']);
}

/** Without the charts, which are files. */
export function toMarkdown(report: Report): string {
  const tables = report.tables.flatMap(({ title, rows }) => [`## ${title}`, '', ...tableLines(rows), '']);
  const notes = report.notes.map((note) => `- ${note}`);
  return [`# ${report.title}`, '', ...factLines(report), '', ...tables, ...notes, ''].join('\n');
}

function factLines({ environment, models, settings, warmUp, runs }: Report): string[] {
  const { cpu, cores, memoryGiB, loadAtStart, node, commit, startedAt } = environment;
  return [
    `- Machine: ${cores} x ${cpu}, ${memoryGiB} GiB, load ${loadAtStart} at the start, Node ${node}`,
    `- Commit ${commit ?? 'unknown'}, ${startedAt}`,
    ...models.map(({ name, sha256 }) => `- Model ${name}, SHA-256 ${sha256.slice(0, 16)}`),
    `- Settings: ${Object.entries(settings)
      .map(([key, value]) => `${key} ${value ?? '-'}`)
      .join(', ')}`,
    `- Warm-up: ${warmUp}; ${runs} measurement${runs === 1 ? '' : 's'} a cell; medians, and in brackets the lowest ` +
      'and highest',
  ];
}

export function tableLines(rows: Table['rows']): string[] {
  const [first] = rows;
  if (first === undefined) return ['(nothing was measured)'];
  const columns = Object.keys(first);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const align = columns.map((column) => (typeof first[column] === 'number' ? '---:' : '---'));
  const body = rows.map((row) => line(columns.map((column) => show(row[column] ?? null))));
  return [line(columns), line(align), ...body];
}

function show(value: Shown): string {
  if (value === null) return '-';
  return typeof value === 'number' ? String(value) : value.replaceAll('|', '\\|');
}

/** Three significant digits, without an exponent. */
export function rounded(value: number): number {
  if (!Number.isFinite(value) || value === 0) return value;
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return Number(value.toFixed(Math.min(digits, 6)));
}

/** '12.3 (11.9-12.8)' */
export function withSpread({ median, minimum, maximum }: Record<'median' | 'minimum' | 'maximum', number>): string {
  return `${rounded(median)} (${rounded(minimum)}-${rounded(maximum)})`;
}
