/**
 * Requests without an Idempotency-Key, of clients that repeat them by themselves when an answer does not arrive. A
 * repeat gets the answer that was paid for. The same request made again on purpose is a request of its own.
 */
import type { JsonValue } from '../ledger/json.js';
import type { Ledger } from '../ledger/ledger.js';
import type { StoredAnswer } from '../ledger/types.js';
import { digestOfRequest, fingerprint, type FingerprintedRequest } from './fingerprint.js';

export interface Unkeyed {
  /** The client says that it has sent the request before. */
  retried: boolean;
  /** All that it sent beside the audio, in an order of its own. */
  fields: JsonValue;
}

/** The outcome of an answer; the last one reported counts. */
export interface Delivery {
  /** All of it was taken. */
  done(): void;
  /** Some of it was not; this may show after done(). */
  lost(): void;
}

interface RepeatableRequest extends FingerprintedRequest {
  accountId: string;
  unkeyed: Unkeyed;
  signal: AbortSignal;
}

/** A request from its first look into the ledger until its answer is delivered or lost. */
class Flight {
  /** Of the record that its answer is stored in. */
  token: string | null = null;
  readonly ended: Promise<void>;
  #end!: () => void;

  constructor(
    readonly accountId: string,
    readonly fingerprint: string,
    private readonly signal: AbortSignal,
  ) {
    this.ended = new Promise((resolve) => (this.#end = resolve));
  }

  /** Nobody waits for its answer any more. */
  get isLeft(): boolean {
    return this.signal.aborted;
  }

  end(): void {
    this.#end();
  }
}

export class UnkeyedRequests {
  readonly #flights = new Set<Flight>();

  constructor(private readonly ledger: Ledger) {}

  /** Whether a request of the account may be the repeat of one whose answer is stored, or soon will be. */
  async mayBeRepeated(accountId: string, { retried }: { retried: boolean }): Promise<boolean> {
    const own = [...this.#flights].filter((flight) => flight.accountId === accountId);
    if (own.some(({ isLeft }) => retried || isLeft)) return true;
    return this.ledger.idempotency.mayBeRepeated(accountId, retried);
  }

  /**
   * The token of a new record, or the stored answer. Waits for the end of one that it may be the repeat of: what that
   * one is charged, this one gets.
   */
  async begin(
    request: RepeatableRequest,
  ): Promise<{ token: string | null; stored: StoredAnswer | null; delivery: Delivery }> {
    const { accountId, signal } = request;
    const { retried } = request.unkeyed;
    const asked = { accountId, fingerprint: derivedKey(request), retried };
    await this.#untilOthersEnd(asked, signal);
    const busy = this.#same(asked).flatMap(({ token }) => token ?? []);
    const flight = new Flight(accountId, asked.fingerprint, signal);
    this.#flights.add(flight);
    try {
      const begun = await this.ledger.idempotency.beginDerived(asked, busy);
      flight.token = begun.token;
      const delivery = this.#delivery(flight, begun.token);
      if (begun.state === 'replay') return { token: null, stored: begun.answer, delivery };
      return { token: begun.token, stored: null, delivery };
    } catch (error) {
      this.#end(flight);
      throw error;
    }
  }

  async #untilOthersEnd(
    asked: { accountId: string; fingerprint: string; retried: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    for (;;) {
      const first = this.#same(asked).find(({ isLeft }) => asked.retried || isLeft);
      if (first === undefined) return;
      await unlessAborted(first.ended, signal);
    }
  }

  #same({ accountId, fingerprint: print }: { accountId: string; fingerprint: string }): Flight[] {
    return [...this.#flights].filter((flight) => flight.accountId === accountId && flight.fingerprint === print);
  }

  #delivery(flight: Flight, token: string): Delivery {
    // One after the other, since the last word counts.
    let noted = Promise.resolve();
    const note = (delivered: boolean): void => {
      noted = noted
        .then(() => this.ledger.idempotency.noteDelivery(token, delivered))
        // A record that cannot be written leaves the answer undelivered: the client may have it once more.
        .catch(() => undefined)
        .finally(() => this.#end(flight));
    };
    return { done: () => note(true), lost: () => note(false) };
  }

  #end(flight: Flight): void {
    this.#flights.delete(flight);
    flight.end();
  }
}

/** Answers that are rendered differently are different requests, though the same work may be behind them. */
function derivedKey(request: RepeatableRequest): string {
  return digestOfRequest([fingerprint(request), request.unkeyed.fields]);
}

/** Rejects with the signal's reason. */
function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    void work.then(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
  });
}
