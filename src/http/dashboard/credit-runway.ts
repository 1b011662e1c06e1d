/** How long credits last if they are spent as in the last days. */
import { DAY_MS } from '../../ledger/time.js';
import type { Pack } from './credit-packs.js';

export interface SpendingPace {
  /** Credits. */
  spent: number;
  /** In which they were spent: whole days, at least 1. */
  days: number;
}

/**
 * Days until nothing is left. Credits are spent from the pack that expires first, so those that expire before their
 * turn do not count. null: nothing is spent at this pace.
 */
export function daysLeft(
  packs: readonly Pick<Pack, 'remaining' | 'expiresAt'>[],
  pace: SpendingPace,
  now: number,
): number | null {
  const perDay = pace.spent / pace.days;
  if (perDay <= 0) return null;
  const lifeOf = ({ expiresAt }: Pick<Pack, 'expiresAt'>): number =>
    expiresAt === null ? Infinity : Math.max(0, (Date.parse(expiresAt) - now) / DAY_MS);
  const byExpiry = packs.map((pack) => ({ credits: pack.remaining, life: lifeOf(pack) }));
  byExpiry.sort((one, other) => (one.life === other.life ? 0 : one.life - other.life));
  return byExpiry.reduce((day, { credits, life }) => {
    const usable = Math.min(credits, Math.max(0, life - day) * perDay);
    return day + usable / perDay;
  }, 0);
}
