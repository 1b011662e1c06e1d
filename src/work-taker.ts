/** Takes pieces of work out of a queue, one look at a time, as long as there is room for them. */

export interface WorkTakerDeps {
  hasRoom: () => boolean;
  /** Takes one piece and begins it; false: there was none. */
  take: () => Promise<boolean>;
  onError: (error: unknown) => void;
}

export class WorkTaker {
  #taking: Promise<void> | null = null;
  #isWanted = false;

  constructor(private readonly deps: WorkTakerDeps) {}

  /** There may be work to take. */
  wake(): void {
    this.#isWanted = true;
    this.#taking ??= this.#take().finally(() => {
      this.#taking = null;
      // Somebody may have called when the last look was over.
      if (this.#mayTake) this.wake();
    });
  }

  /** When the look that is under way is over. */
  async idle(): Promise<void> {
    await this.#taking;
  }

  get #mayTake(): boolean {
    return this.#isWanted && this.deps.hasRoom();
  }

  async #take(): Promise<void> {
    while (this.#mayTake) {
      this.#isWanted = false;
      try {
        if (await this.deps.take()) this.#isWanted = true;
      } catch (error) {
        this.deps.onError(error);
      }
    }
  }
}
