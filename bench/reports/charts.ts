/** Charts as SVG, drawn by Apache ECharts without a browser. */
import { createRequire } from 'node:module';
import type * as ECharts from 'echarts';
import type { EChartsOption, YAXisComponentOption } from 'echarts';

interface Labels {
  /** Names the file. */
  name: string;
  title: string;
  /** What the axes show, with units. */
  x: string;
  y: string;
}

/** Numbers against a number: one line a series. */
export interface LineChart extends Labels {
  kind: 'lines';
  series: readonly { name: string; points: readonly (readonly [x: number, y: number])[] }[];
}

/** Numbers of things that have names: one bar a category and series. */
export interface BarChart extends Labels {
  kind: 'bars';
  categories: readonly string[];
  /** As many values as there are categories, as they are to be written over the bars; null leaves a gap. */
  series: readonly { name: string; values: readonly (number | null)[] }[];
}

export type Chart = LineChart | BarChart;

const SIZE = { width: 720, height: 420 };
/** Apart from each other in lightness, too. */
const COLOURS = ['#2f5aa8', '#d1751b', '#3a8f5c', '#8b4fa3', '#b03a48', '#6b7280'];
/** More points than pixels say nothing more; their markers would hide the line. */
const MOST_MARKERS = 60;

const requireLater = createRequire(__filename);

/** The same chart gives the same text. */
export function renderSvg(chart: Chart): string {
  // Not when this file is loaded: the library is large, and every command that draws nothing would wait for it.
  const { init } = requireLater('echarts') as typeof ECharts;
  const drawing = init(null, null, { renderer: 'svg', ssr: true, ...SIZE });
  try {
    drawing.setOption({ ...frame(chart), ...(chart.kind === 'lines' ? lines(chart) : bars(chart)) });
    return renumbered(drawing.renderToSVGString());
  } finally {
    drawing.dispose();
  }
}

/** The library numbers its classes through all drawings of the process. */
function renumbered(svg: string): string {
  const names = new Map<string, string>();
  return svg.replaceAll(/zr\d+-(cls|c)-?\d+/g, (name) => {
    if (!names.has(name)) names.set(name, `chart-${names.size}`);
    return names.get(name) ?? name;
  });
}

function frame({ title }: Labels): EChartsOption {
  return {
    animation: false,
    backgroundColor: '#ffffff',
    title: { text: title, left: 'center', top: 8, textStyle: { fontSize: 16 } },
    // Without a browser the widths of texts are guessed; the gap keeps neighbours apart.
    legend: { bottom: 4, type: 'plain', itemGap: 28 },
    color: COLOURS,
    grid: { left: 70, right: 30, top: 50, bottom: 90 },
  };
}

function yAxis({ y }: Labels): YAXisComponentOption {
  return { type: 'value', name: y, nameLocation: 'middle', nameGap: 50, min: 0 };
}

function lines(chart: LineChart): EChartsOption {
  const { x, series } = chart;
  return {
    xAxis: { type: 'value', name: x, nameLocation: 'middle', nameGap: 28, scale: true },
    yAxis: yAxis(chart),
    series: series.map(({ name, points }) => ({
      name,
      type: 'line',
      showSymbol: points.length <= MOST_MARKERS,
      data: points.map((point) => [...point]).sort(([a = 0], [b = 0]) => a - b),
    })),
  };
}

function bars(chart: BarChart): EChartsOption {
  const { x, categories, series } = chart;
  return {
    xAxis: { type: 'category', name: x, nameLocation: 'middle', nameGap: 28, data: [...categories] },
    yAxis: yAxis(chart),
    series: series.map(({ name, values }) => ({
      name,
      type: 'bar',
      barMaxWidth: 60,
      label: { show: true, position: 'top' },
      data: [...values],
    })),
  };
}
