/** A request's place among those that may be the same: a new record, or the stored answer of an earlier one. */
import type { Ledger } from '../ledger/ledger.js';
import type { StoredAnswer } from '../ledger/types.js';
import { fingerprint, type FingerprintedRequest } from './fingerprint.js';
import { beginIdempotent } from './idempotent.js';
import { UnkeyedRequests, type Delivery, type Unkeyed } from './unkeyed.js';

/** How a repeat of the request is known. */
export interface RepeatableRequest extends FingerprintedRequest {
  accountId: string;
  idempotencyKey: string | null;
  /** Without an Idempotency-Key, of a client that may repeat the request unasked. */
  unkeyed?: Unkeyed | undefined;
  signal: AbortSignal;
}

export interface BegunRequest {
  /** Of the record that the answer is to be stored in; null: it is not stored, or has been. */
  token: string | null;
  stored: StoredAnswer | null;
  /** Notified of how the answer's delivery ends; null: nobody asks. */
  delivery: Delivery | null;
}

export class RequestIdempotency {
  readonly #unkeyed: UnkeyedRequests;

  constructor(private readonly ledger: Ledger) {
    this.#unkeyed = new UnkeyedRequests(ledger);
  }

  /**
   * Whether a request without an Idempotency-Key may have its answer stored, so that it needs neither credits nor time.
   */
  mayBeRepeated(accountId: string, unkeyed: { retried: boolean }): Promise<boolean> {
    return this.#unkeyed.mayBeRepeated(accountId, unkeyed);
  }

  /** Throws `idempotency_conflict`. */
  async begin(request: RepeatableRequest): Promise<BegunRequest> {
    const { accountId, idempotencyKey: key, unkeyed } = request;
    if (key !== null) {
      const begun = await beginIdempotent(this.ledger, { accountId, key, fingerprint: fingerprint(request) });
      const isNew = typeof begun === 'string';
      return { token: isNew ? begun : null, stored: isNew ? null : begun, delivery: null };
    }
    if (unkeyed !== undefined) return this.#unkeyed.begin({ ...request, unkeyed });
    return { token: null, stored: null, delivery: null };
  }

  /** Of a request that failed: a repeat that waits for it begins again. */
  async abandon({ token, delivery }: BegunRequest): Promise<void> {
    try {
      if (token !== null) await this.ledger.idempotency.abandon(token);
    } finally {
      delivery?.lost();
    }
  }
}
