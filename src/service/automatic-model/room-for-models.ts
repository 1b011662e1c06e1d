import type { Candidate } from '../../models/automatic-model.js';
import type { Manifest } from '../../models/manifest.js';
import { freeMemory } from '../free-memory.js';
import type { Logger } from '../log.js';
import { fitsInto, neededBytes } from './measure-machine.js';

/**
 * Returns a check of whether there is enough memory for a model now. A lack of memory is logged once for each model.
 */
export function roomForModels(
  manifest: Manifest,
  logger: Pick<Logger, 'info'>,
  free: () => number | null = freeMemory,
): (candidate: Candidate) => boolean {
  const logged = new Set<string>();
  return (candidate) => {
    const bytes = free();
    if (fitsInto(bytes, candidate, manifest)) return true;
    const { model } = candidate;
    const memory = { neededBytes: neededBytes(candidate, manifest), freeBytes: bytes };
    if (!logged.has(model)) logger.info({ model, ...memory }, 'there is not enough free memory for a published model');
    logged.add(model);
    return false;
  };
}
