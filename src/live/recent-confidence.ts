import { isConfident, NEIGHBOURS } from '../engine/speech/confidence.js';
import type { RecognisedUtterance } from '../engine/types.js';

type Scored = Pick<RecognisedUtterance, 'averageLogProbability' | 'scoredTokens'>;

/** Judges each result with those before it: a session cannot wait for the ones behind. */
export class RecentConfidence {
  #recent: Scored[] = [];

  /** `floor`: EngineInfo.minAverageLogProbability. */
  constructor(private readonly floor: number | null) {}

  /** Whether the model was sure of the next result; one without text always passes, and is not counted. */
  passes(result: Scored): boolean {
    const isSure = this.wouldPass(result);
    if (result.averageLogProbability !== null) this.#recent = this.#with(result);
    return isSure;
  }

  /** The same without counting it: of a result that may change. */
  wouldPass(result: Scored): boolean {
    if (this.floor === null || result.averageLogProbability === null) return true;
    const all = this.#with(result);
    return isConfident(all, all.length - 1, this.floor);
  }

  #with({ averageLogProbability, scoredTokens }: Scored): Scored[] {
    return [...this.#recent.slice(-NEIGHBOURS), { averageLogProbability, scoredTokens }];
  }
}
