/**
 * When a job will be done, as far as that can be known. Accounts take turns, and requests whose clients wait go before.
 */
import { amountByAccount, doneWhenServed } from '../engine/fair-share.js';

export interface WaitingAudio {
  id: string;
  accountId: string;
  secondsLeft: number;
}

export interface Pace {
  /** Seconds of audio of requests whose clients wait. */
  backlogSeconds: number;
  /** Processing seconds per second of audio. */
  realTimeFactor: number;
}

/**
 * Whole seconds, at least 1, by the ids of `jobs`: the open jobs of one account or of all, in the order in which they
 * are begun.
 */
export function etaSeconds(open: readonly WaitingAudio[], pace: Pace): Map<string, number> {
  const totals = amountByAccount(open.map(({ accountId, secondsLeft }) => ({ accountId, amount: secondsLeft })));
  const behind = new Map<string, number>();
  const etas = new Map<string, number>();
  for (const { id, accountId, secondsLeft } of open) {
    const own = (behind.get(accountId) ?? 0) + secondsLeft;
    behind.set(accountId, own);
    const audio = pace.backlogSeconds + doneWhenServed(totals.values(), own);
    etas.set(id, Math.max(1, Math.ceil(audio * pace.realTimeFactor)));
  }
  return etas;
}
