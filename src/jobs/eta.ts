/**
 * When a job will be done, as far as that can be told: accounts take turns, so until its account has had as much audio transcribed as
 * stands up to the end of this job, each other account gets as much, or all that it has. Requests whose clients wait go before.
 */
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

/** Whole seconds, at least 1, by the ids of `jobs`, which are those of one account or of all in the order in which they are begun. */
export function etaSeconds(open: readonly WaitingAudio[], pace: Pace): Map<string, number> {
  const totals = new Map<string, number>();
  for (const { accountId, secondsLeft } of open) {
    totals.set(accountId, (totals.get(accountId) ?? 0) + secondsLeft);
  }
  const behind = new Map<string, number>();
  const etas = new Map<string, number>();
  for (const { id, accountId, secondsLeft } of open) {
    const own = (behind.get(accountId) ?? 0) + secondsLeft;
    behind.set(accountId, own);
    let audio = own + pace.backlogSeconds;
    for (const [other, total] of totals) if (other !== accountId) audio += Math.min(total, own);
    etas.set(id, Math.max(1, Math.ceil(audio * pace.realTimeFactor)));
  }
  return etas;
}
