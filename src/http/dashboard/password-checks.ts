/** Checking passwords: throttled by account and by address, few at once. */
import type { WallClock } from '../../ledger/time.js';
import { networkOf } from '../limits/address-limit.js';
import { AttemptLimit } from './attempt-limit.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';

const OF_ACCOUNT = { burst: 10, intervalMs: 60_000 };
const OF_ADDRESS = { burst: 30, intervalMs: 10_000 };
/** 32 MiB each. */
const AT_ONCE = { running: 2, waiting: 32 };
const BUSY_RETRY_SECONDS = 5;

export type PasswordCheck<T> = { found: T | null } | { retryAfterSeconds: number };

export class PasswordChecks {
  readonly #accounts: AttemptLimit;
  readonly #addresses: AttemptLimit;
  readonly #work = new ConcurrencyLimit(
    AT_ONCE,
    () => new Refusal(503, TEXTS.errors.busy, { 'Retry-After': BUSY_RETRY_SECONDS }),
  );

  constructor(clock: WallClock) {
    this.#accounts = new AttemptLimit(OF_ACCOUNT, clock);
    this.#addresses = new AttemptLimit(OF_ADDRESS, clock);
  }

  /** Hashes a password that nobody guesses. */
  atOnce<T>(work: () => Promise<T>): Promise<T> {
    return this.#work.run(work);
  }

  /**
   * What `check` finds; null, and what fails, counts as a guess. Attempts count while they run, so that many at once
   * are no more.
   */
  async run<T>(email: string, address: string, check: () => Promise<T | null>): Promise<PasswordCheck<T>> {
    const [account, network] = [email.trim().toLowerCase(), networkOf(address)];
    const ofAddress = this.#addresses.take(network);
    if (ofAddress !== null) return { retryAfterSeconds: ofAddress };
    const ofAccount = this.#accounts.take(account);
    if (ofAccount !== null) return { retryAfterSeconds: ofAccount };
    const found = await this.#work.run(check);
    if (found !== null) {
      this.#accounts.release(account);
      this.#addresses.release(network);
    }
    return { found };
  }
}
