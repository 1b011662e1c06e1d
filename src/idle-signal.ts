/** Lets callers wait until nothing is left to do. */
export class IdleSignal {
  #waiting: (() => void)[] = [];

  constructor(private readonly isIdle: () => boolean) {}

  /** Resolves at once where nothing is left to do already. */
  async whenIdle(): Promise<void> {
    if (!this.isIdle()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** To be called whenever something has ended. */
  check(): void {
    if (this.isIdle()) for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
