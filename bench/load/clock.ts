import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../src/engine/clock.js';

/** Unlike the engine's, its pauses keep the process alive: a load goes on while nothing but time passes. */
export const loadClock: Clock = {
  now: () => performance.now(),
  sleep: (milliseconds) => sleep(milliseconds),
};
