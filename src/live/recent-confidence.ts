import { isConfident, NEIGHBOURS } from '../engine/speech/confidence.js';
import type { RecognisedUtterance } from '../engine/types.js';

type Scored = Pick<RecognisedUtterance, 'averageLogProbability' | 'scoredTokens'>;

/** Judges each result with those before it: a session cannot wait for the ones behind. */
export class RecentConfidence {
  #recent: Scored[] = [];

  /** `floor`: EngineInfo.minAverageLogProbability. */
  constructor(private readonly floor: number | null) {}

  /** Whether the model was sure of the next result; one without text always passes, and is not counted. */
  passes({ averageLogProbability, scoredTokens }: Scored): boolean {
    if (this.floor === null || averageLogProbability === null) return true;
    this.#recent = [...this.#recent.slice(-NEIGHBOURS), { averageLogProbability, scoredTokens }];
    return isConfident(this.#recent, this.#recent.length - 1, this.floor);
  }

  /** The same without counting it: of a result that may change. */
  wouldPass({ averageLogProbability, scoredTokens }: Scored): boolean {
    if (this.floor === null || averageLogProbability === null) return true;
    const all = [...this.#recent.slice(-NEIGHBOURS), { averageLogProbability, scoredTokens }];
    return isConfident(all, all.length - 1, this.floor);
  }
}
