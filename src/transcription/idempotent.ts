import { VerbatimError } from '../errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { StoredAnswer } from '../ledger/types.js';

const CONFLICTS = {
  still_running: 'The first request with this Idempotency-Key is still running.',
  different_request: 'This Idempotency-Key was used for a different request.',
  deleted: 'The answer to this Idempotency-Key was deleted with its transcript. Send the request with a new key.',
};

/** The token of a new record, or the stored answer. Throws `idempotency_conflict`. */
export async function beginIdempotent(
  ledger: Pick<Ledger, 'idempotency'>,
  asked: { accountId: string; key: string; fingerprint: string },
): Promise<string | StoredAnswer> {
  const begun = await ledger.idempotency.begin(asked);
  if (begun.state === 'new') return begun.token;
  if (begun.state === 'replay') return begun.answer;
  throw new VerbatimError('idempotency_conflict', CONFLICTS[begun.reason], { param: 'Idempotency-Key' });
}
