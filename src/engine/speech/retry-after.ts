import type { EngineStats } from '../types.js';

/** Whole seconds until the measured backlog is worked off, at least 1: what Retry-After says. */
export function retryAfterSeconds(stats: Pick<EngineStats, 'backlogSeconds' | 'realTimeFactor'>): number {
  const seconds = Math.ceil(stats.backlogSeconds * stats.realTimeFactor);
  return Number.isFinite(seconds) ? Math.max(1, seconds) : 1;
}
