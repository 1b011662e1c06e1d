/** Texts whose parts are translated in any order, and reported in the order of the texts. */
export class TextsInOrder {
  private readonly tokens: string[][] = [];
  private readonly parts: string[] = [];
  private working: Promise<void> = Promise.resolve();
  private isWorking = false;
  private taken = 0;
  private reported = 0;
  private reportedParts = 0;

  /** `partCounts`: of each text. */
  constructor(
    private readonly partCounts: readonly number[],
    private readonly call: {
      /** The text of each of the parts that begin at `first`. */
      detokenize: (first: number, tokens: readonly string[][]) => Promise<string[]>;
      reported: (text: number, parts: readonly string[]) => void;
    },
  ) {}

  /** Must not be called twice for a part. */
  add(part: number, tokens: string[]): void {
    this.tokens[part] = tokens;
    if (this.isWorking || this.tokens[this.taken] === undefined) return;
    this.isWorking = true;
    this.working = this.work();
    // whole() rejects with it.
    this.working.catch(() => undefined);
  }

  /** Every part's text, once all are there; rejects with what `detokenize` or `reported` failed with. */
  async whole(): Promise<string[]> {
    await this.working;
    return this.parts;
  }

  private async work(): Promise<void> {
    for (let next = this.next(); next.length > 0; next = this.next()) {
      const first = this.taken;
      this.taken += next.length;
      this.parts.push(...(await this.call.detokenize(first, next)));
      this.report();
    }
    // Before anybody else has a turn; after a failure there is nothing more to do.
    this.isWorking = false;
  }

  private next(): string[][] {
    const next: string[][] = [];
    for (let at = this.taken; this.tokens[at] !== undefined; at++) next.push(this.tokens[at] ?? []);
    return next;
  }

  private report(): void {
    for (; this.reported < this.partCounts.length; this.reported++) {
      const end = this.reportedParts + (this.partCounts[this.reported] ?? 0);
      if (end > this.parts.length) return;
      this.call.reported(this.reported, this.parts.slice(this.reportedParts, end));
      this.reportedParts = end;
    }
  }
}
