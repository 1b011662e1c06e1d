/** Which heads of the decoder's cross-attention give the times of words. */

/** Both from 0, the layer nearest to the tokens first. */
export interface HeadPlace {
  layer: number;
  head: number;
}

/** How far word starts are off, on average, when they are read from a head, or from the mean of several; seconds. */
export interface MeasuredHeads<Head = HeadPlace> {
  heads: readonly Head[];
  meanError: number;
}

export interface HeadSelection<Head = HeadPlace> {
  /** Each head alone, the best first. */
  alone: readonly MeasuredHeads<Head>[];
  /** The set as it grew: of one head, of two, ... The last one is the choice. */
  grown: readonly MeasuredHeads<Head>[];
}

export interface SelectionLimits {
  /** Heads of the choice. */
  most: number;
  /** The best of the single heads that are tried beside others: the rest would only take time. */
  candidates: number;
  /** Nor are those tried that are alone so many times as far off as the best one: they would add nothing but noise. */
  worst: number;
  /** What a further head must take off the error, seconds. */
  leastGain: number;
}

/**
 * Greedy: the best head alone, then whichever head lowers the error of the set most, until none lowers it by
 * `leastGain` or there are `most`. `measure` is asked for many sets at once and answers in their order. Throws
 * RangeError without heads.
 */
export async function selectHeads<Head>(
  heads: readonly Head[],
  measure: (sets: readonly (readonly Head[])[]) => Promise<readonly number[]>,
  { most, candidates, worst, leastGain }: SelectionLimits,
): Promise<HeadSelection<Head>> {
  const ranked = async (sets: readonly (readonly Head[])[]): Promise<MeasuredHeads<Head>[]> => {
    const errors = await measure(sets);
    return sets
      .map((set, index) => ({ heads: set, meanError: errors[index] ?? Infinity }))
      .sort((one, other) => one.meanError - other.meanError);
  };
  const alone = await ranked(heads.map((head) => [head]));
  const [best] = alone;
  if (best === undefined) throw new RangeError('There are no heads to choose from.');
  const measured = alone
    .slice(0, candidates)
    .filter(({ meanError }) => meanError <= worst * best.meanError)
    .flatMap(({ heads: [head] }) => (head === undefined ? [] : [head]));
  const grown = [best];
  for (let set = best; grown.length < most;) {
    const larger = measured.filter((head) => !set.heads.includes(head)).map((head) => [...set.heads, head]);
    const [next] = larger.length === 0 ? [] : await ranked(larger);
    if (next === undefined || next.meanError > set.meanError - leastGain) break;
    grown.push(next);
    set = next;
  }
  return { alone, grown };
}
