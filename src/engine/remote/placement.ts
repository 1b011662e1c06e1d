/**
 * How much work is done before a request on a device, if accounts take turns. Each request goes to the device where it
 * ends first.
 */
import { amountByAccount, doneWhenServed } from '../fair-share.js';

export interface PlacedWork {
  /** Each kind of work has its own turns. */
  kind: 'speech' | 'reading' | 'text';
  accountId: string;
  /** Whether it goes behind the account's other work. */
  background: boolean;
  /** The work that is left: seconds of audio, files, or characters. */
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

/** Within one account; see FairQueue. */
function goesBefore(other: PlacedWork, work: PlacedWork): boolean {
  return other.background === work.background ? other.amount <= work.amount : work.background;
}
