import type { WindowResult } from '../binding.js';
import { isConfident, NEIGHBOURS } from './confidence.js';

/** The windows of a request, in the order of the file. Each is passed on as soon as nothing can change its result. */
export class FinalWindows {
  private readonly inOrder: WindowResult[] = [];
  private readonly scored: WindowResult[] = [];
  private taken = 0;
  private judged = 0;

  /** `floor`: see confidentResults(). */
  constructor(private readonly floor: number | null) {}

  /** The index of the window that add() takes next. */
  get next(): number {
    return this.inOrder.length;
  }

  /** The final result of the next window: no vote and no second pass changes it. */
  add(result: WindowResult): void {
    this.inOrder.push(result);
    if (result.averageLogProbability !== null) this.scored.push(result);
  }

  /**
   * Those whose last word is known, each once, and only if the model was sure of it. `isOver`: no other window
   * comes.
   */
  take(isOver: boolean): WindowResult[] {
    const kept: WindowResult[] = [];
    for (; this.taken < this.inOrder.length; this.taken++) {
      const result = this.inOrder[this.taken];
      if (result === undefined) break;
      const isScored = result.averageLogProbability !== null;
      if (isScored && !isOver && !this.canBeJudged) break;
      if (!isScored || this.isSure) kept.push(result);
      if (isScored) this.judged++;
    }
    return kept;
  }

  private get canBeJudged(): boolean {
    return this.floor === null || this.scored.length > this.judged + NEIGHBOURS;
  }

  private get isSure(): boolean {
    return this.floor === null || isConfident(this.scored, this.judged, this.floor);
  }
}
