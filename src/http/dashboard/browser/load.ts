/** The figures, the chart of the last minutes and the table of accounts, kept up to date by the server's events. */
import type uPlotType from 'uplot';
import { axis, chartIn, colour, fromZero } from './chart.js';

/** The figures and rows are texts, as the server writes them into the page. */
interface ServerLoad {
  at: string;
  slots: number;
  busySlots: number;
  backlogSeconds: number;
  figures: Record<string, string>;
  rows: string[][];
}

/** Points of the chart; older ones are dropped. */
const POINTS = 180;
const HEIGHT = 200;
const RETRY_MS = 5000;
/** Between the marks of an axis of seconds or slots: parts of either would be written twice. */
const WHOLE_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300];
/** Of a chart, in uPlot's words. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- the script of uPlot has no such enum
const RIGHT = 1 as uPlotType.Axis.Side;

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

/** As the tables write it, without the day. */
function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(11, 19);
}

/** As long as the chart can become, from its first point on; before that nothing. */
const lastMinutes: uPlotType.Scale.Range = (_chart, _first, last: number | null) =>
  last === null ? [null, null] : [last - POINTS, last];

/** Seconds since 1970, seconds of backlog, slots that work: at most POINTS of each. */
class LoadChart {
  readonly #data: [number[], number[], number[]] = [[], [], []];
  readonly #chart: uPlotType;
  #slots = 1;

  constructor(target: HTMLElement) {
    const line = (name: string, scale: string) => ({
      scale,
      stroke: colour(name),
      width: 2,
      points: { show: false },
    });
    this.#chart = chartIn(target, this.#data, {
      height: HEIGHT,
      axes: [
        axis({ space: 80, incrs: WHOLE_STEPS, values: (_chart, seconds) => seconds.map(timeOf) }),
        axis({ scale: 'y', stroke: colour('--series-1') }),
        axis({ scale: 'slots', stroke: colour('--series-2'), side: RIGHT, incrs: WHOLE_STEPS, grid: { show: false } }),
      ],
      scales: {
        x: { range: lastMinutes },
        y: { range: fromZero },
        slots: { range: () => [0, this.#slots] },
      },
      series: [{}, line('--series-1', 'y'), line('--series-2', 'slots')],
    });
  }

  add({ at, backlogSeconds, busySlots, slots }: ServerLoad): void {
    this.#slots = Math.max(1, slots);
    const point = [Date.parse(at) / 1000, backlogSeconds, busySlots];
    for (const [index, values] of this.#data.entries()) {
      values.push(point[index] ?? 0);
      if (values.length > POINTS) values.shift();
    }
    this.#chart.setData(this.#data);
  }
}

const figures = document.getElementById('figures');
const status = document.getElementById('link');
const figure = document.getElementById('chart');
const target = figure?.querySelector<HTMLElement>('[data-target]');
const events = figures?.dataset['events'];
if (figure && target && events !== undefined) {
  figure.hidden = false;
  listen(events, new LoadChart(target));
}

function listen(url: string, chart: LoadChart): void {
  const source = new EventSource(url);
  source.addEventListener('load', ({ data }: MessageEvent<string>) => {
    const load = JSON.parse(data) as ServerLoad;
    if (status?.textContent) status.textContent = '';
    showFigures(load);
    showAccounts(load);
    chart.add(load);
  });
  const again = (pauseMs: number): void => {
    source.close();
    setTimeout(() => listen(url, chart), pauseMs);
  };
  source.addEventListener('again', () => again(0));
  source.addEventListener('error', () => {
    if (status !== null) status.textContent = status.dataset['broken'] ?? '';
    again(RETRY_MS);
  });
}
