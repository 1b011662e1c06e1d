/**
 * Bytes that a client has the server read for nothing: of messages that are refused, and of what surrounds audio. A
 * connection that sends many is not read for a while.
 */

/** Messages this long cost nothing here: their number is bounded already. */
export const FREE_MESSAGE_BYTES = 4096;
/** A second. */
export const CONNECTION_RATE = 2 ** 20;
/** Of all connections of an account together. */
export const ACCOUNT_RATE = 2 * 2 ** 20;

/** Bytes at a constant rate, without savings: who was silent may not send more afterwards. */
class ByteRate {
  #paidAt = 0;

  constructor(private readonly bytesPerSecond: number) {}

  /** The time at which these bytes are paid for, behind those before. `now`: milliseconds. */
  payFor(bytes: number, now: number): number {
    this.#paidAt = Math.max(now, this.#paidAt) + (bytes / this.bytesPerSecond) * 1000;
    return this.#paidAt;
  }

  isPaid(now: number): boolean {
    return this.#paidAt <= now;
  }
}

/** Of one connection. */
export interface UselessBytes {
  /** Milliseconds until the connection may be read again. `useless`: of the message's bytes. */
  delayMs(useless: number, now: number): number;
}

/** Of all connections of the server. */
export class UselessBytesOfAccounts {
  readonly #accounts = new Map<string, ByteRate>();

  ofConnection(accountId: string): UselessBytes {
    const own = new ByteRate(CONNECTION_RATE);
    return {
      delayMs: (useless, now) => {
        if (useless <= FREE_MESSAGE_BYTES) return 0;
        const paidAt = Math.max(own.payFor(useless, now), this.#of(accountId, now).payFor(useless, now));
        return Math.ceil(paidAt - now);
      },
    };
  }

  /** Those who owe nothing are forgotten: there is an entry for each account with a pause at most. */
  #of(accountId: string, now: number): ByteRate {
    for (const [id, rate] of this.#accounts) if (rate.isPaid(now)) this.#accounts.delete(id);
    let rate = this.#accounts.get(accountId);
    if (rate === undefined) {
      rate = new ByteRate(ACCOUNT_RATE);
      this.#accounts.set(accountId, rate);
    }
    return rate;
  }
}
