/** The highest rate that a server bears. */
import type { LoadResult } from './open-loop.js';

export interface RateSearchOptions {
  /** Requests a second, the first try. */
  startRate: number;
  /** 95 % of the answers must come within this, milliseconds. */
  p95BoundMs: number;
  /** Steps between the highest rate that was borne and the lowest that was not. */
  refinements: number;
  run: (rate: number) => Promise<LoadResult>;
}

export interface RateSearchResult {
  /** null when not even the lowest rate tried was borne. */
  highestRate: number | null;
  steps: LoadResult[];
}

const MOST_DOUBLINGS = 12;

/** null: nothing was sent, as can happen at a low rate, so the step shows neither. */
export function isBorne({ sent, latency, refused, failed }: LoadResult, p95BoundMs: number): boolean | null {
  if (sent === 0) return null;
  return refused === 0 && failed === 0 && latency !== null && latency.p95 <= p95BoundMs;
}

/** Doubles (or halves) the rate until it brackets the answer, then bisects on the logarithm. */
export async function searchRate(options: RateSearchOptions): Promise<RateSearchResult> {
  const { startRate, p95BoundMs, refinements, run } = options;
  const steps: LoadResult[] = [];
  const bears = async (rate: number): Promise<boolean | null> => {
    const step = await run(rate);
    steps.push(step);
    return isBorne(step, p95BoundMs);
  };
  const { borne, broken } = await bracket(startRate, bears);
  if (borne === null || broken === null) return { highestRate: borne, steps };
  let [low, high] = [borne, broken];
  for (let step = 0; step < refinements; step++) {
    const middle = Math.sqrt(low * high);
    if ((await bears(middle)) === false) high = middle;
    else low = middle;
  }
  return { highestRate: low, steps };
}

async function bracket(
  startRate: number,
  bears: (rate: number) => Promise<boolean | null>,
): Promise<{ borne: number | null; broken: number | null }> {
  let rate = startRate;
  const up = (await bears(rate)) !== false;
  for (let step = 0; step < MOST_DOUBLINGS; step++) {
    const next = up ? rate * 2 : rate / 2;
    const isGood = await bears(next);
    if (isGood === null && !up) break;
    if (isGood !== null && isGood !== up) return up ? { borne: rate, broken: next } : { borne: next, broken: rate };
    rate = next;
  }
  return up ? { borne: rate, broken: null } : { borne: null, broken: rate };
}
