/**
 * One language for a request, from its first speech: every window of the first VOTE_SECONDS votes with the
 * log-probabilities that the model gave, weighted by its length. Windows without recognised speech (music, noise) do
 * not count, neither as votes nor as speech.
 */
export const VOTE_SECONDS = 30;

/** One window that is quite sure and quite wrong must not outvote all others. */
const LEAST_PROBABILITY = 1e-4;

export class LanguageVote {
  private readonly sums = new Map<string, number>();
  private countedSeconds = 0;
  private pendingSeconds = 0;
  private pending = 0;

  /** `windowSeconds`: the longest window of the model, room for which must be left for another vote. */
  constructor(
    private readonly languages: readonly string[],
    private readonly windowSeconds: number,
  ) {}

  /** Whether the next window in the file may vote; if not, it waits until the vote is closed. */
  get acceptsAnother(): boolean {
    const seconds = this.countedSeconds + this.pendingSeconds;
    return seconds === 0 || seconds + this.windowSeconds <= VOTE_SECONDS;
  }

  /** Every vote is in, and there is no room for another. */
  get isComplete(): boolean {
    return this.pending === 0 && !this.acceptsAnother;
  }

  begin(seconds: number): void {
    this.pending++;
    this.pendingSeconds += seconds;
  }

  /** The vote of a window that began; null when it has no recognised speech. */
  end(seconds: number, probabilities: Readonly<Record<string, number>> | null): void {
    this.pending--;
    this.pendingSeconds = this.pending === 0 ? 0 : this.pendingSeconds - seconds;
    if (probabilities === null) return;
    this.countedSeconds += seconds;
    for (const language of this.languages) {
      const probability = Math.max(probabilities[language] ?? 0, LEAST_PROBABILITY);
      this.sums.set(language, (this.sums.get(language) ?? 0) + seconds * Math.log(probability));
    }
  }

  /** The most likely language so far; null before the first vote. */
  get leader(): string | null {
    let best: string | null = null;
    for (const [language, sum] of this.sums) {
      if (best === null || sum > (this.sums.get(best) ?? -Infinity)) best = language;
    }
    return best;
  }

  /** The leader's share: the weighted geometric means of the probabilities, made to sum to 1. */
  get leaderProbability(): number | null {
    const leader = this.leader;
    if (leader === null || this.countedSeconds === 0) return null;
    const mean = (language: string): number => Math.exp((this.sums.get(language) ?? -Infinity) / this.countedSeconds);
    const total = this.languages.reduce((sum, language) => sum + mean(language), 0);
    return mean(leader) / total;
  }
}
