/**
 * What fair turns make of work that waits. Accounts take turns, so while one account is served an amount, every other
 * one is served as much, or all that it has.
 */
interface Waiting {
  accountId: string;
  /** Left to do, in whatever unit the turns are counted in. */
  amount: number;
}

export function amountByAccount(work: Iterable<Waiting>): Map<string, number> {
  const amounts = new Map<string, number>();
  for (const { accountId, amount } of work) amounts.set(accountId, (amounts.get(accountId) ?? 0) + amount);
  return amounts;
}

/**
 * The amount done in all once each account has been served `served`, or all that it has. `amounts`: of each account.
 */
export function doneWhenServed(amounts: Iterable<number>, served: number): number {
  let sum = 0;
  for (const amount of amounts) sum += Math.min(amount, served);
  return sum;
}
