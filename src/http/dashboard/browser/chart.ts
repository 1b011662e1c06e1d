/** Shared by the charts: colours of the style sheet, days and minutes in UTC, the available width. */
import type uPlotType from 'uplot';

declare const uPlot: typeof uPlotType;

/** As it is now, light or dark: canvases know no custom properties. */
export function colour(name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Of what grows from nothing. */
export const fromZero: uPlotType.Scale.Range = (_chart, _low, high) => [0, Math.max(1, high * 1.1)];

export function axis(more: Partial<uPlotType.Axis> = {}): uPlotType.Axis {
  return { stroke: colour('--soft'), grid: { stroke: colour('--line'), width: 1 }, ...more };
}

/** As wide as its place, whenever that changes. */
export function chartIn(
  target: HTMLElement,
  data: uPlotType.AlignedData,
  { height, ...options }: Pick<uPlotType.Options, 'height' | 'axes' | 'scales' | 'series'>,
): uPlotType {
  const chart = new uPlot(
    {
      ...{ width: target.clientWidth, height, legend: { show: false }, cursor: { show: false } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      ...options,
    },
    data,
    target,
  );
  new ResizeObserver(() => chart.setSize({ width: target.clientWidth, height })).observe(target);
  return chart;
}
