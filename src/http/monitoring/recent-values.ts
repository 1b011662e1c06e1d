const MOST = 200;

/** Quantiles of the last values. */
export class RecentValues {
  readonly #values: number[] = [];
  #next = 0;

  add(value: number): void {
    this.#values[this.#next] = value;
    this.#next = (this.#next + 1) % MOST;
  }

  /** `part`: from 0 to 1. null: there is no value. */
  quantile(part: number): number | null {
    const sorted = [...this.#values].sort((a, b) => a - b);
    return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? null;
  }
}
