/** Statistics of repeated measurements. */

export interface Summary {
  count: number;
  median: number;
  minimum: number;
  maximum: number;
}

export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** Middle value, or the mean of the two middle ones. Throws RangeError for no values. */
export function median(values: readonly number[]): number {
  const sorted = ascending(values);
  const high = Math.floor(sorted.length / 2);
  const low = sorted.length % 2 === 0 ? high - 1 : high;
  return (at(sorted, low) + at(sorted, high)) / 2;
}

/** Nearest rank: the smallest value that at least `share` (0..1] of all values do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  if (!(share > 0 && share <= 1)) throw new RangeError(`share is ${share}; allowed: above 0, at most 1.`);
  const sorted = ascending(values);
  return at(sorted, Math.ceil(share * sorted.length) - 1);
}

export function percentiles(values: readonly number[]): Percentiles {
  return {
    p50: percentile(values, 0.5),
    p95: percentile(values, 0.95),
    p99: percentile(values, 0.99),
  };
}

export function summarize(values: readonly number[]): Summary {
  const sorted = ascending(values);
  return {
    count: sorted.length,
    median: median(sorted),
    minimum: at(sorted, 0),
    maximum: at(sorted, sorted.length - 1),
  };
}

/**
 * Quotients of measurements that were taken next to each other: what slows the machine for a while slows both, so their
 * ratio holds where the numbers themselves do not. Throws RangeError when the lists differ in length.
 */
export function pairedRatios(numerators: readonly number[], denominators: readonly number[]): number[] {
  if (numerators.length !== denominators.length) {
    throw new RangeError(`${numerators.length} measurements cannot be paired with ${denominators.length}.`);
  }
  return numerators.map((value, index) => value / at(denominators, index));
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function ascending(values: readonly number[]): number[] {
  if (values.length === 0) throw new RangeError('There are no values.');
  return [...values].sort((a, b) => a - b);
}

function at(values: readonly number[], index: number): number {
  const value = values[index];
  if (value === undefined) throw new RangeError(`There is no value ${index} of ${values.length}.`);
  return value;
}
