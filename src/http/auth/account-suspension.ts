/** Suspends and deletes accounts. Their requests in flight are aborted at once, uncharged. */
import type { Account } from '../../ledger/types.js';
import type { HttpDeps } from '../app/deps.js';

type Parts = Pick<HttpDeps, 'ledger' | 'inFlight'>;

/** Throws `account_not_found`. */
export async function suspendAccount({ ledger, inFlight }: Parts, id: string): Promise<Account> {
  const suspended = await ledger.administration.suspend(id);
  inFlight.revokeAccount(id);
  return suspended;
}

/** Throws `account_not_found`. */
export async function deleteAccount({ ledger, inFlight }: Parts, id: string): Promise<void> {
  await ledger.administration.delete(id);
  inFlight.revokeAccount(id);
}
