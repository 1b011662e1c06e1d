/** Texts that are translated part by part, in any order, told in theirs. */
export class TextsInOrder {
  private readonly tokens: string[][] = [];
  private readonly parts: string[] = [];
  private working: Promise<void> = Promise.resolve();
  private isWorking = false;
  private taken = 0;
  private told = 0;
  private toldParts = 0;

  /** `partCounts`: of each text. */
  constructor(
    private readonly partCounts: readonly number[],
    private readonly call: {
      /** The text of each of the parts that begin at `first`. */
      detokenize: (first: number, tokens: readonly string[][]) => Promise<string[]>;
      told: (text: number, parts: readonly string[]) => void;
    },
  ) {}

  /** Must not be called twice for a part. */
  add(part: number, tokens: string[]): void {
    this.tokens[part] = tokens;
    if (this.isWorking || this.tokens[this.taken] === undefined) return;
    this.isWorking = true;
    this.working = this.work();
    // Whoever waits for the end hears of it.
    this.working.catch(() => undefined);
  }

  /** Every part's text, once all are there; rejects with what `detokenize` or `told` failed with. */
  async whole(): Promise<string[]> {
    await this.working;
    return this.parts;
  }

  private async work(): Promise<void> {
    for (let next = this.next(); next.length > 0; next = this.next()) {
      const first = this.taken;
      this.taken += next.length;
      this.parts.push(...(await this.call.detokenize(first, next)));
      this.tell();
    }
    // Before anybody else has a turn; after a failure there is nothing more to do.
    this.isWorking = false;
  }

  private next(): string[][] {
    const next: string[][] = [];
    for (let at = this.taken; this.tokens[at] !== undefined; at++) next.push(this.tokens[at] ?? []);
    return next;
  }

  private tell(): void {
    for (; this.told < this.partCounts.length; this.told++) {
      const end = this.toldParts + (this.partCounts[this.told] ?? 0);
      if (end > this.parts.length) return;
      this.call.told(this.told, this.parts.slice(this.toldParts, end));
      this.toldParts = end;
    }
  }
}
