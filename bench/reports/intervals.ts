/** Stretches of time, in seconds. */
export interface Interval {
  start: number;
  end: number;
}

/** In order, apart. */
export function union(intervals: readonly Interval[]): Interval[] {
  const joined: Interval[] = [];
  for (const { start, end } of [...intervals].sort((one, other) => one.start - other.start)) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}

export function length(intervals: readonly Interval[]): number {
  return union(intervals).reduce((sum, { start, end }) => sum + end - start, 0);
}

/** How much of these lies outside all of the others. */
export function outside(intervals: readonly Interval[], others: readonly Interval[]): number {
  return length([...intervals, ...others]) - length(others);
}
