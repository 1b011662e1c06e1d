/** A straight line through measurements, and how far its slope may be trusted. */
import { median } from './statistics.js';

export interface Line {
  intercept: number;
  slope: number;
}

export interface Slope extends Line {
  /** Half the width of the 95 % confidence interval of the slope. */
  margin: number;
  /** Of neighbouring residuals, 0 to 1. */
  autocorrelation: number;
}

type Point = readonly [x: number, y: number];

const Z_95 = 1.96;

/** Least squares. Throws RangeError for fewer than two different x. */
export function fitLine(points: readonly Point[]): Line {
  const [meanX, meanY] = [0, 1].map((axis) => mean(points.map((point) => point[axis] ?? NaN)));
  if (meanX === undefined || meanY === undefined) throw new RangeError('There are no points.');
  const spread = sumOf(points, ([x]) => (x - meanX) ** 2);
  if (!(spread > 0)) throw new RangeError('A line needs points at two different x.');
  const slope = sumOf(points, ([x, y]) => (x - meanX) * (y - meanY)) / spread;
  return { slope, intercept: meanY - slope * meanX };
}

/**
 * With the margin of the slope. Samples of memory follow each other, so that many of them say little more than a few:
 * the standard error is widened for residuals that correlate with their neighbours (first-order autoregression, the
 * "effective sample size" of Bayley and Hammersley, 1946). Throws RangeError for fewer than four points.
 */
export function fitSlope(points: readonly Point[]): Slope {
  if (points.length < 4) throw new RangeError(`${points.length} points say nothing of a slope's margin.`);
  const line = fitLine(points);
  const residuals = points.map(([x, y]) => y - line.intercept - line.slope * x);
  const squares = sumOf(residuals, (residual) => residual ** 2);
  const products = sumOf(residuals.slice(1), (residual, index) => residual * (residuals[index] ?? 0));
  const autocorrelation = squares === 0 ? 0 : Math.min(0.99, Math.max(0, products / squares));
  const degrees = points.length - 2;
  const meanX = mean(points.map(([x]) => x));
  const plain = Math.sqrt(squares / degrees / sumOf(points, ([x]) => (x - meanX) ** 2));
  const widened = plain * Math.sqrt((1 + autocorrelation) / (1 - autocorrelation));
  const effective = Math.max(1, (degrees * (1 - autocorrelation)) / (1 + autocorrelation));
  return { ...line, autocorrelation, margin: studentT(effective) * widened };
}

/**
 * The median of the slopes between all pairs of points (Theil, 1950; Sen, 1968): what a few of them say that are far
 * off, as a process is that happens to be at work, does not move it. Throws RangeError for fewer than two different x.
 */
export function medianSlope(points: readonly Point[]): number {
  const slopes = points.flatMap(([x, y], index) =>
    points.slice(index + 1).flatMap(([laterX, laterY]) => (laterX === x ? [] : [(laterY - y) / (laterX - x)])),
  );
  if (slopes.length === 0) throw new RangeError('A slope needs points at two different x.');
  return median(slopes);
}

/** 97.5 % quantile of Student's t, by the first terms of Cornish and Fisher's expansion. */
function studentT(degrees: number): number {
  const z = Z_95;
  const first = (z ** 3 + z) / (4 * degrees);
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2);
  return z + first + second;
}

function mean(values: readonly number[]): number {
  return sumOf(values, (value) => value) / values.length;
}

function sumOf<T>(values: readonly T[], term: (value: T, index: number) => number): number {
  return values.reduce((total, value, index) => total + term(value, index), 0);
}
