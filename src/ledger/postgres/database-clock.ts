import type { WallClock } from '../time.js';
import type { Statements } from './statements.js';

/**
 * The database's time, by this machine's and how far it is off: a lease must not lapse earlier on one server than on
 * another.
 */
export class DatabaseClock {
  #aheadMs = 0;

  constructor(private readonly statements: Statements) {}

  readonly now: WallClock = () => Date.now() + this.#aheadMs;

  async set(): Promise<void> {
    const asked = Date.now();
    const [row] = await this.statements.repeatable<{ now: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
    );
    const answered = Date.now();
    if (row !== undefined) this.#aheadMs = row.now - Math.round((asked + answered) / 2);
  }
}
