/** The figures, the charts of the last minutes and the table of accounts, kept up to date by the server's events. */
import type uPlotType from 'uplot';
import { axis, chartIn, colour, fromZero } from './chart.js';

/** The figures and rows are texts, as the server writes them into the page. */
interface ServerLoad {
  at: string;
  live: { sessions: number };
  figures: Record<string, string>;
  rows: string[][];
}

/** Points of the chart; older ones are dropped. */
const POINTS = 600;
const HEIGHT = 160;
const RETRY_MS = 5000;
/** Between the marks of an axis of seconds: a minute is written once. */
const TIME_STEPS = [60, 120, 180, 300];
/** Between the marks of an axis of what is counted: parts of it would be written twice. */
const WHOLE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000];

function showFigures({ figures }: ServerLoad): void {
  for (const place of document.querySelectorAll<HTMLElement>('[data-load]')) {
    const text = figures[place.dataset['load'] ?? ''];
    if (text !== undefined && place.textContent !== text) place.textContent = text;
  }
}

/** Existing rows are updated: a table that is recreated each second is garbage each second. */
function showAccounts({ rows }: ServerLoad): void {
  const body = document.querySelector<HTMLTableSectionElement>('#accounts tbody');
  if (body === null) return;
  while (body.rows.length > rows.length) body.deleteRow(-1);
  for (const [index, cells] of rows.entries()) writeRow(body.rows[index] ?? body.insertRow(), cells);
}

function writeRow(row: HTMLTableRowElement, cells: readonly string[]): void {
  for (const [index, text] of cells.entries()) {
    const cell = row.cells[index] ?? newCell(row, index);
    if (cell.textContent !== text) cell.textContent = text;
  }
}

function newCell(row: HTMLTableRowElement, index: number): HTMLTableCellElement {
  const cell = row.insertCell();
  cell.dir = 'auto';
  if (index > 0) cell.className = 'figure';
  return cell;
}

/** In the reader's zone. */
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** As long as the chart can become, from its first point on; before that nothing. */
const lastMinutes: uPlotType.Scale.Range = (_chart, _first, last: number | null) =>
  last === null ? [null, null] : [last - POINTS, last];

/** Values of one unit in the last minutes: at most POINTS of each. */
class LoadChart {
  /** Seconds since 1970, then the values of each line. */
  readonly #data: number[][];
  readonly #chart: uPlotType;

  constructor(
    target: HTMLElement,
    private readonly lines: readonly string[],
  ) {
    this.#data = [[], ...lines.map(() => [])];
    const line = (_name: string, index: number) => ({
      ...{ stroke: colour(`--series-${index + 1}`), width: 2, points: { show: false } },
    });
    this.#chart = chartIn(target, this.#data as [number[], ...number[][]], {
      height: HEIGHT,
      axes: [
        axis({
          space: 60,
          incrs: TIME_STEPS,
          values: (_chart, seconds) => seconds.map((at) => clock.format(at * 1000)),
        }),
        axis({ incrs: WHOLE_STEPS, size: 56 }),
      ],
      scales: { x: { range: lastMinutes }, y: { range: fromZero } },
      series: [{}, ...lines.map(line)],
    });
  }

  add(load: ServerLoad): void {
    const values = this.lines.map((line) => valueOf(load, line));
    for (const [index, value] of [Date.parse(load.at) / 1000, ...values].entries()) {
      const known = this.#data[index];
      known?.push(value);
      if (known !== undefined && known.length > POINTS) known.shift();
    }
    this.#chart.setData(this.#data as [number[], ...number[][]]);
  }
}

function valueOf(load: ServerLoad, line: string): number {
  const value = line === 'liveSessions' ? load.live.sessions : (load as unknown as Record<string, unknown>)[line];
  return typeof value === 'number' ? value : 0;
}

const figures = document.getElementById('figures');
const status = document.getElementById('link');
const events = figures?.dataset['events'];
if (events !== undefined) {
  document.querySelector('[data-needs-scripts]')?.removeAttribute('hidden');
  const charts = [...document.querySelectorAll<HTMLElement>('[data-chart]')].map((figure) => {
    const target = figure.querySelector<HTMLElement>('[data-target]') ?? figure;
    return new LoadChart(target, figure.dataset['chart']?.split(' ') ?? []);
  });
  listen(events, charts);
}

function listen(url: string, charts: readonly LoadChart[]): void {
  const source = new EventSource(url);
  source.addEventListener('load', ({ data }: MessageEvent<string>) => {
    const load = JSON.parse(data) as ServerLoad;
    if (status?.textContent) status.textContent = '';
    showFigures(load);
    showAccounts(load);
    for (const chart of charts) chart.add(load);
  });
  const again = (pauseMs: number): void => {
    source.close();
    setTimeout(() => listen(url, charts), pauseMs);
  };
  source.addEventListener('again', () => again(0));
  source.addEventListener('error', () => {
    if (status !== null) status.textContent = status.dataset['broken'] ?? '';
    again(RETRY_MS);
  });
}
