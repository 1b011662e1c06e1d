/**
 * The speech model of `verbatim transcribe` if neither the command line nor VERBATIM_MODEL names one. docs/models.md
 * has the rule.
 */
import { statSync } from 'node:fs';
import type { SpeechModelEntry } from '../models/manifest.js';
import { isInstalled, modelPath, type StoreRoots } from '../models/store.js';
import { readChosenModel } from './chosen-model.js';
import type { ServiceContext } from './context.js';

/**
 * The model that was chosen for a server with these settings, or the best installed model. null: only the demonstration
 * model is left. Throws as readChosenModel() does.
 */
export function localModel({ config, roots, manifest }: ServiceContext): string | null {
  const chosen = readChosenModel(config.dataDir);
  if (chosen !== null || config.autoModel === false) return chosen;
  const installed = manifest.models.filter(
    (entry) => entry.kind === 'speech' && entry.demonstration !== true && isInstalled(roots, entry),
  ) as SpeechModelEntry[];
  return bestOf(installed, roots)?.name ?? null;
}

/** Prefers models for all languages, then the largest file. */
function bestOf(models: readonly SpeechModelEntry[], roots: StoreRoots): SpeechModelEntry | undefined {
  const sizes = new Map(models.map((entry) => [entry, statSync(modelPath(roots, entry)).size]));
  const isForAll = ({ languages }: SpeechModelEntry): number => Number(languages === 'whisper');
  return models.toSorted(
    (one, other) => isForAll(other) - isForAll(one) || (sizes.get(other) ?? 0) - (sizes.get(one) ?? 0),
  )[0];
}
