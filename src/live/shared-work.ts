/**
 * Work on something that all sessions share, as a translator: of the time while several wait for it, each has used its
 * share. So a wait for others is not taken for work.
 */
export class SharedWork {
  #running = 0;
  #at = 0;
  /** Milliseconds of one that has run all the time. */
  #share = 0;

  /** `now`: milliseconds, monotonic. */
  constructor(private readonly now: () => number) {}

  /** Returns what ends it, and then gives the milliseconds that it used. */
  begin(): () => number {
    this.#pass();
    const begun = this.#share;
    this.#running += 1;
    return () => {
      this.#pass();
      this.#running -= 1;
      return this.#share - begun;
    };
  }

  #pass(): void {
    const now = this.now();
    if (this.#running > 0) this.#share += (now - this.#at) / this.#running;
    this.#at = now;
  }
}
