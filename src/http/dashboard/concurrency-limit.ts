/** Work that takes much memory each: few at once, some waiting, the rest refused. */
export class ConcurrencyLimit {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    private readonly limits: { running: number; waiting: number },
    private readonly refusal: () => Error,
  ) {}

  /** Throws the refusal when too many wait already. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.limits.running) this.#running += 1;
    else await this.#turn();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= this.limits.waiting) throw this.refusal();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
