import { VerbatimError } from '../errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { StoredAnswer } from '../ledger/types.js';

/** The token of a new record, or the stored answer. Throws `idempotency_conflict`. */
export async function beginIdempotent(
  ledger: Pick<Ledger, 'idempotency'>,
  asked: { accountId: string; key: string; fingerprint: string },
): Promise<string | StoredAnswer> {
  const begun = await ledger.idempotency.begin(asked);
  if (begun.state === 'new') return begun.token;
  if (begun.state === 'replay') return begun.answer;
  const message =
    begun.reason === 'still_running'
      ? 'The first request with this Idempotency-Key is still running.'
      : 'This Idempotency-Key was used for a different request.';
  throw new VerbatimError('idempotency_conflict', message, { param: 'Idempotency-Key' });
}
