/** The figures, the chart of the last minutes and the table of accounts, kept up to date by the server's events. */
import type uPlotType from 'uplot';

declare const uPlot: typeof uPlotType;

interface ServerLoad {
  at: string;
  slots: number;
  busySlots: number;
  windowsInFlight: number;
  queuedWindows: number;
  backlogSeconds: number;
  maxBacklogSeconds: number;
  realTimeFactor: number;
  retryAfterSeconds: number;
  requestsInFlight: number;
  refusals: number;
  memoryBytes: number;
  eventLoopMs: number | null;
  accounts: { email: string; requests: number }[];
}

/** Points of the chart; older ones are forgotten. */
const POINTS = 180;
const HEIGHT = 200;
const RETRY_MS = 5000;

const language = document.documentElement.lang;
const written = (value: number): string => value.toLocaleString(language);

/** As the server writes them into the page. */
function figuresOf(load: ServerLoad): Record<string, string> {
  return {
    at: `${load.at.slice(0, 10)} ${load.at.slice(11, 19)} UTC`,
    busySlots: `${load.busySlots} / ${load.slots}`,
    windowsInFlight: written(load.windowsInFlight),
    queuedWindows: written(load.queuedWindows),
    backlogSeconds: `${written(Math.round(load.backlogSeconds))} / ${written(load.maxBacklogSeconds)}`,
    realTimeFactor: load.realTimeFactor.toFixed(3),
    retryAfterSeconds: written(load.retryAfterSeconds),
    requestsInFlight: written(load.requestsInFlight),
    refusals: written(load.refusals),
    memoryBytes: written(Math.round(load.memoryBytes / 2 ** 20)),
    ...(load.eventLoopMs === null ? {} : { eventLoopMs: load.eventLoopMs.toFixed(1) }),
  };
}

function showFigures(load: ServerLoad): void {
  const figures = figuresOf(load);
  for (const place of document.querySelectorAll<HTMLElement>('[data-load]')) {
    const text = figures[place.dataset['load'] ?? ''];
    if (text !== undefined && place.textContent !== text) place.textContent = text;
  }
}

function showAccounts({ accounts }: ServerLoad): void {
  const section = document.getElementById('accounts');
  const body = section?.querySelector('tbody');
  const rows = accounts.length === 0 ? [[section?.dataset['none'] ?? '', '']] : accounts.map(rowOf);
  body?.replaceChildren(...rows.map(tableRow));
}

const rowOf = ({ email, requests }: ServerLoad['accounts'][number]): string[] => [email, written(requests)];

function tableRow(cells: readonly string[]): HTMLTableRowElement {
  const row = document.createElement('tr');
  for (const [index, text] of cells.entries()) {
    const cell = row.insertCell();
    cell.dir = 'auto';
    if (index > 0) cell.className = 'figure';
    cell.textContent = text;
  }
  return row;
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Seconds since 1970, seconds of backlog, share of the slots that work: at most POINTS of each. */
class LoadChart {
  readonly #data: [number[], number[], number[]] = [[], [], []];
  readonly #chart: uPlotType;

  constructor(target: HTMLElement) {
    const axis = { stroke: colour('--soft'), grid: { stroke: colour('--line'), width: 1 } };
    const line = (name: string, scale: string) => ({
      scale,
      stroke: colour(name),
      width: 2,
      points: { show: false },
    });
    this.#chart = new uPlot(
      {
        width: target.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
        axes: [axis, { ...axis, scale: 'y' }],
        scales: {
          y: { range: (_chart, _low, high) => [0, Math.max(1, high * 1.1)] },
          slots: { range: () => [0, 1.1] },
        },
        series: [{}, line('--series-1', 'y'), line('--series-2', 'slots')],
      },
      this.#data,
      target,
    );
    new ResizeObserver(() => this.#chart.setSize({ width: target.clientWidth, height: HEIGHT })).observe(
      target,
    );
  }

  add({ at, backlogSeconds, busySlots, slots }: ServerLoad): void {
    const point = [Date.parse(at) / 1000, backlogSeconds, busySlots / Math.max(1, slots)];
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
