/** The chart of usage, drawn from the table on the same page: minutes a day, the endpoints on top of one another. */
import type uPlotType from 'uplot';
import { axis, chartIn, colour, fromZero } from './chart.js';

declare const uPlot: typeof uPlotType;

const HEIGHT = 260;
/** Between the marks of the time axis: parts of a day would be written twice. */
const DAYS = [1, 2, 7, 14, 30].map((days) => days * 86_400);
const COLOURS = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6'];

interface Usage {
  /** Seconds since 1970, one a day. */
  days: number[];
  endpoints: string[];
  /** By endpoint, then by day. */
  minutes: number[][];
}

function read(table: HTMLTableElement, figure: HTMLElement): Usage {
  const first = Number(figure.dataset['first']);
  const count = Number(figure.dataset['days']);
  const days = Array.from({ length: count }, (_, day) => first + day * 86_400);
  const byEndpoint = new Map<string, number[]>();
  for (const row of table.tBodies[0]?.rows ?? []) {
    const [day, endpoint, , minutes] = [...row.cells].map((cell) => cell.dataset['value'] ?? cell.textContent.trim());
    const index = days.indexOf(Date.parse(day ?? '') / 1000);
    const of = byEndpoint.get(endpoint ?? '') ?? Array.from({ length: count }, () => 0);
    byEndpoint.set(endpoint ?? '', of);
    of[index] = Number(minutes);
  }
  return { days, endpoints: [...byEndpoint.keys()], minutes: [...byEndpoint.values()] };
}

/** The highest first, so that each is painted over by those below it. */
function stacked({ minutes }: Usage): number[][] {
  const sums: number[][] = [];
  for (const series of minutes) {
    const below = sums[0];
    sums.unshift(series.map((value, day) => value + (below?.[day] ?? 0)));
  }
  return sums;
}

/** As the table writes it, without the year. */
function dayOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(5, 10);
}

function draw(figure: HTMLElement, usage: Usage): void {
  const paths = uPlot.paths.bars?.({ size: [0.8, 48] });
  const series = usage.endpoints.map((label, index) => ({
    label,
    fill: colour(COLOURS[index % COLOURS.length] ?? ''),
    points: { show: false },
    ...(paths === undefined ? {} : { paths }),
  }));
  const target = figure.querySelector<HTMLElement>('[data-target]') ?? figure;
  chartIn(target, [usage.days, ...stacked(usage)], {
    height: HEIGHT,
    axes: [axis({ incrs: DAYS, values: (_chart, seconds) => seconds.map(dayOf) }), axis()],
    scales: { y: { range: fromZero } },
    series: [{}, ...series.reverse()],
  });
}

function legend(figure: HTMLElement, { endpoints }: Usage): void {
  const list = figure.querySelector('ul');
  for (const [index, endpoint] of endpoints.entries()) {
    const item = document.createElement('li');
    item.className = `series-${(index % COLOURS.length) + 1}`;
    item.textContent = endpoint;
    list?.append(item);
  }
}

const figure = document.getElementById('chart');
const table = document.querySelector<HTMLTableElement>('#by-day table');
if (figure !== null && table !== null) {
  const usage = read(table, figure);
  figure.closest<HTMLElement>('[data-needs-scripts]')?.removeAttribute('hidden');
  legend(figure, usage);
  draw(figure, usage);
}
