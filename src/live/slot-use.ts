/**
 * What live sessions of one server have in the engine's slots. Final results go first: a partial result begins only in
 * a free slot, and the newest ones are given up when a final result finds all slots taken.
 */
export class SlotUse {
  #finals = 0;
  /** What gives each of them up, the oldest first. */
  readonly #partials = new Set<() => void>();

  /** `slots`: of the engine, at least 1. */
  constructor(private readonly slots: () => number) {}

  /** Whether a partial result may begin. */
  get isFree(): boolean {
    return this.#finals + this.#partials.size < this.slots();
  }

  /** A partial result has begun; `giveUp` is called at most once, before it has ended. Returns what ends it. */
  beginPartial(giveUp: () => void): () => void {
    this.#partials.add(giveUp);
    return () => void this.#partials.delete(giveUp);
  }

  /** A final result was asked for. Returns what ends it; call that once. */
  beginFinal(): () => void {
    this.#finals += 1;
    const newestFirst = [...this.#partials].reverse();
    const excess = this.#finals + newestFirst.length - this.slots();
    for (const giveUp of newestFirst.slice(0, Math.max(0, excess))) {
      this.#partials.delete(giveUp);
      giveUp();
    }
    return () => (this.#finals -= 1);
  }
}
