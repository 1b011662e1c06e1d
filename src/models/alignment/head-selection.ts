/** Chooses the heads of the decoder's cross-attention that give word times. */

/** Both count from 0. Layer 0 is nearest to the tokens. */
export interface HeadPlace {
  layer: number;
  head: number;
}

/** The mean error of word starts in seconds, if they are read from these heads. Several heads are averaged. */
export interface MeasuredHeads<Head = HeadPlace> {
  heads: readonly Head[];
  meanError: number;
}

export interface HeadSelection<Head = HeadPlace> {
  /** Each head alone, the best first. */
  alone: readonly MeasuredHeads<Head>[];
  /** The set after each step: one head, two heads, and so on. The last set is the choice. */
  grown: readonly MeasuredHeads<Head>[];
}

export interface SelectionLimits {
  /** The most heads that may be chosen. */
  most: number;
  /** How many of the best single heads are tried together with others. More would only take time. */
  candidates: number;
  /**
   * A head whose error alone is more than this many times the best head's is not tried with others. It would only add
   * noise.
   */
  worst: number;
  /** The least reduction of the error that justifies a further head, in seconds. */
  leastGain: number;
}

/**
 * Greedy selection. Starts with the best head alone, then adds the head that reduces the error of the set most. Stops
 * when no head reduces it by `leastGain`, or when there are `most` heads. `measure` gets many sets at once and returns
 * their errors in the same order. Throws RangeError without heads.
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
