import type { WindowPolicy } from '../../src/engine/binding.js';

/** How the bundled model wants its audio cut. */
export const POLICY: WindowPolicy = {
  maxSeconds: 8,
  cut: 'pause',
  minPauseSeconds: 0.15,
  searchSeconds: 3,
  ownLength: true,
};
