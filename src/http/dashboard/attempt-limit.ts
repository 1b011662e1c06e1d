/**
 * How often a password may be guessed: so many attempts at once, then one for each interval. The state is a table with
 * one time for each cell; a keyed hash of the name chooses the cell. So it does not grow with the number of names, and
 * no name can be pushed out of it.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { WallClock } from '../../ledger/time.js';

const CELLS = 65_536;

export interface AttemptRate {
  /** Attempts at once. */
  burst: number;
  /** For a further one. */
  intervalMs: number;
}

export class AttemptLimit {
  readonly #seed = randomBytes(32);
  /** When all attempts of a cell expire. */
  readonly #expiresAt = new Float64Array(CELLS);

  constructor(
    private readonly rate: AttemptRate,
    private readonly clock: WallClock,
  ) {}

  /** Counts an attempt, or answers after how many seconds, at least 1, there may be one. */
  take(name: string): number | null {
    const { burst, intervalMs } = this.rate;
    const cell = this.#cellOf(name);
    const now = this.clock();
    const expiresAt = Math.max(now, this.#expiresAt[cell] ?? 0);
    const wait = expiresAt - now - (burst - 1) * intervalMs;
    if (wait > 0) return Math.ceil(wait / 1000);
    this.#expiresAt[cell] = expiresAt + intervalMs;
    return null;
  }

  /** An attempt that was no guess. */
  release(name: string): void {
    const cell = this.#cellOf(name);
    this.#expiresAt[cell] = (this.#expiresAt[cell] ?? 0) - this.rate.intervalMs;
  }

  #cellOf(name: string): number {
    return createHmac('sha256', this.#seed).update(name).digest().readUInt16LE();
  }
}
