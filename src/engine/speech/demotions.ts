/** Accounts whose conversions have lately taken far more of a processor than their audio accounts for. */
import type { Clock } from '../clock.js';

const LASTS_MS = 60_000;

export class Demotions {
  /** By account, the first to end first. */
  readonly #until = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** From now on for a minute. */
  demote(accountId: string): void {
    this.#until.delete(accountId);
    this.#until.set(accountId, this.clock.now() + LASTS_MS);
  }

  has(accountId: string): boolean {
    this.#removeEnded();
    return this.#until.has(accountId);
  }

  #removeEnded(): void {
    for (const [accountId, until] of this.#until) {
      if (until > this.clock.now()) return;
      this.#until.delete(accountId);
    }
  }
}
