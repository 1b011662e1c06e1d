/** The account's balance by the server, after a run that was cancelled or failed and so had no answer. */

/** The run's hold is settled a moment after its end. */
const PAUSES_MS = [250, 1000, 4000];

/** Shows it some times, as long as `isWanted`. */
export async function refreshBalance(isWanted: () => boolean, show: (balance: number) => void): Promise<void> {
  for (const pause of PAUSES_MS) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    // A server that cannot be reached for a moment is asked again.
    const balance = await fetchBalance().catch(() => null);
    if (!isWanted()) return;
    if (balance !== null) show(balance);
  }
}

/** As a fresh page would show it; null: it was none. */
async function fetchBalance(): Promise<number | null> {
  const answer = await fetch(location.href);
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const balance = page.querySelector<HTMLElement>('#try')?.dataset['balance'];
  return balance === undefined ? null : Number(balance);
}
