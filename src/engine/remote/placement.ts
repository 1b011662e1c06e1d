/**
 * How much goes before a request on a device, where accounts take turns; so that each goes where its own turns come
 * first.
 */
import { amountByAccount, doneWhenServed } from '../fair-share.js';

export interface PlacedWork {
  /** What it waits for. Each kind has turns of its own. */
  kind: 'speech' | 'reading' | 'text';
  accountId: string;
  /** Behind the account's others. */
  background: boolean;
  /** Left to do: seconds of audio; files; characters. */
  amount: number;
}

/**
 * The work on a device until `work` is done, if nothing else comes. It is the sum of
 *
 * - `own`: the amount of `work` and of its account's work that goes before it, and
 * - for every other account, the smaller of `own` and all that the account has there.
 *
 * So a clip waits for another account's long file no longer than for a clip.
 */
export function workUntilDone(work: PlacedWork, others: Iterable<PlacedWork>): number {
  const before = [...others].filter((other) => {
    return other.kind === work.kind && (other.accountId !== work.accountId || goesBefore(other, work));
  });
  const amounts = amountByAccount([work, ...before]);
  return doneWhenServed(amounts.values(), amounts.get(work.accountId) ?? 0);
}

/** Within an account; see FairQueue. */
function goesBefore(other: PlacedWork, work: PlacedWork): boolean {
  return other.background === work.background ? other.amount <= work.amount : work.background;
}
