/** How much goes before a request on a device, where accounts take turns; so that each goes where its own turns come first. */

export interface PlacedWork {
  /** What it waits for: each sort has turns of its own. */
  kind: 'speech' | 'reading' | 'text';
  accountId: string;
  /** Behind the account's others. */
  background: boolean;
  /** Left to do: seconds of audio; files; characters. */
  amount: number;
}

/**
 * What is done until this is, itself included, were nothing else to come: all of its account's that goes before it, and of every other account
 * as much again, or all that it has. So a clip waits for another account's long file no longer than for a clip.
 */
export function workUntilDone(work: PlacedWork, others: Iterable<PlacedWork>): number {
  const held = new Map<string, number>();
  let own = work.amount;
  for (const other of others) {
    if (other.kind !== work.kind) continue;
    if (other.accountId !== work.accountId)
      held.set(other.accountId, (held.get(other.accountId) ?? 0) + other.amount);
    else if (goesBefore(other, work)) own += other.amount;
  }
  return [...held.values()].reduce((sum, amount) => sum + Math.min(amount, own), own);
}

/** Within an account; see FairQueue. */
function goesBefore(other: PlacedWork, work: PlacedWork): boolean {
  return other.background === work.background ? other.amount <= work.amount : work.background;
}
