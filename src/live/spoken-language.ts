/** The language of a session whose client named none. */
import type { RecognisedUtterance } from '../engine/types.js';

/** So much recognised speech decides. */
const DECISIVE_SECONDS = 30;

export class SpokenLanguage {
  readonly #sums = new Map<string, number>();
  #seconds = 0;

  /** What the next utterance is to be decoded in: a code, or 'auto'. */
  get next(): string {
    return this.#seconds < DECISIVE_SECONDS ? 'auto' : (this.leader ?? 'auto');
  }

  /** The likeliest one so far; null: nothing was recognised. */
  get leader(): string | null {
    let best: [string, number] | null = null;
    for (const entry of this.#sums) if (best === null || entry[1] > best[1]) best = entry;
    return best?.[0] ?? null;
  }

  /** Counts an utterance with text. */
  add({ languageProbabilities }: Pick<RecognisedUtterance, 'languageProbabilities'>, seconds: number): void {
    if (languageProbabilities === null) return;
    this.#seconds += seconds;
    for (const [code, probability] of Object.entries(languageProbabilities)) {
      this.#sums.set(code, (this.#sums.get(code) ?? 0) + probability * seconds);
    }
  }
}
