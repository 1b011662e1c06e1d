/** Whether what was seen again and again has grown. */
import { medianSlope } from '../../../bench/reports/regression.js';
import { median } from '../../../bench/reports/statistics.js';
import type { Footprint } from './footprint.js';

/**
 * Over the second half of the load: what a heap may still settle by, or what happens to be under way. By the end of its
 * name.
 */
const MOST_GROWTH = [
  { of: /memory \(MiB\)$/, most: 16 },
  { of: /descriptors$/, most: 4 },
  { of: /threads$/, most: 2 },
  { of: /./, most: 3 },
];
/** Times at which a process was seen, below which nothing is said of it. */
const LEAST_SEEN = 3;

export interface Growth {
  name: string;
  median: number;
  /** By the median of slopes, over the second half. */
  growth: number;
  most: number;
}

/** Of everything that was seen in the second half. */
export function growths(footprints: readonly Footprint[]): Growth[] {
  const half = footprints.slice(Math.floor(footprints.length / 2));
  const names = new Set(half.flatMap((footprint) => Object.keys(footprint)));
  return [...names].flatMap((name) => {
    const points = half.flatMap(({ [name]: value }, at) => (value === undefined ? [] : [[at, value] as const]));
    if (points.length < LEAST_SEEN) return [];
    const growth = medianSlope(points) * half.length;
    const most = MOST_GROWTH.find(({ of }) => of.test(name))?.most ?? 0;
    return [{ name, growth, most, median: median(points.map(([, value]) => value)) }];
  });
}
