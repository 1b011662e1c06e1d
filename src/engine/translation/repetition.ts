/**
 * The guard against endless loops. A decoder can get stuck and repeat the same words until its length runs out. Three
 * rules bound that:
 *
 * - A translation has at most 2 x source + 32 tokens.
 * - If it loops and its source does not, it is decoded once more, with every n-gram of NO_REPEAT_NGRAM tokens allowed
 *   once.
 * - The second result stands, whatever it is.
 */
export const NO_REPEAT_NGRAM = 4;

const LONGEST_PERIOD = 16;
const LEAST_REPEATS = 4;
const LEAST_TOKENS = 12;

/** Whether the tokens end in at least LEAST_REPEATS repeats of a run of at most LONGEST_PERIOD tokens. */
export function endsInLoop(tokens: readonly string[]): boolean {
  for (let period = 1; period <= LONGEST_PERIOD; period++) {
    let equal = 0;
    for (let at = tokens.length - 1; at >= period && tokens[at] === tokens[at - period]; at--) equal++;
    const looped = equal + period;
    if (equal > 0 && looped >= LEAST_REPEATS * period && looped >= LEAST_TOKENS) return true;
  }
  return false;
}

/** Longest translation, in tokens, of a source of so many tokens. */
export function longestTranslation(sourceTokens: number): number {
  return 2 * sourceTokens + 32;
}
