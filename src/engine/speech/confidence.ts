import type { WindowResult } from '../binding.js';

/**
 * A window is judged with so many windows that hold text on either side of it. A single one has some ten tokens, too
 * few for its own average to separate a lucky guess from speech that the model knows; a recording seldom changes its
 * kind.
 */
export const NEIGHBOURS = 2;

type Scored = Pick<WindowResult, 'averageLogProbability' | 'scoredTokens'>;

/**
 * The results, in the order of the file, that the model was sure enough of: over the tokens of the window and of its
 * neighbours the average log-probability is at least `floor`. Windows without text always pass. With `floor` null all
 * do.
 */
export function confidentResults(results: readonly WindowResult[], floor: number | null): WindowResult[] {
  if (floor === null) return [...results];
  const scored = results.filter((result) => result.averageLogProbability !== null);
  const unsure = new Set(scored.filter((_, at) => !isConfident(scored, at, floor)));
  return results.filter((result) => !unsure.has(result));
}

/** Of one of the windows that hold text; for a final word as many of them as count have to stand behind it. */
export function isConfident(scored: readonly Scored[], at: number, floor: number): boolean {
  return averageOf(scored.slice(Math.max(0, at - NEIGHBOURS), at + NEIGHBOURS + 1)) >= floor;
}

/** Weighted by tokens. */
function averageOf(results: readonly Scored[]): number {
  let sum = 0;
  let tokens = 0;
  for (const { averageLogProbability, scoredTokens } of results) {
    sum += (averageLogProbability ?? 0) * scoredTokens;
    tokens += scoredTokens;
  }
  return sum / tokens;
}
