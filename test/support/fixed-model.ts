import { ModelRefused } from '../../src/errors.js';
import type { ModelSwitch } from '../../src/models/model-switch.js';

/** Of a server whose engines never change. */
export function fixedModel(serving: string): ModelSwitch {
  const since = Date.now();
  return {
    state: () => ({ serving, since, afterRestart: serving, change: null, last: null }),
    use: () => {
      throw new ModelRefused('This server has room for one model.');
    },
  };
}
