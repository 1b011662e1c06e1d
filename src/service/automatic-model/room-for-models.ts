import type { Candidate } from '../../models/automatic-model.js';
import type { Manifest } from '../../models/manifest.js';
import { freeMemory } from '../free-memory.js';
import type { Logger } from '../log.js';
import { fitsInto, neededBytes } from './measure-machine.js';

/** Whether there is memory for a model now. The log says once of a model that there is not. */
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
