/** Chooses how speech is detected, by VERBATIM_VAD. */
import { SetupError } from '../errors.js';
import { findModel, VOICE_ACTIVITY_MODEL, type Manifest } from '../models/manifest.js';
import { isInstalled, modelPath, type StoreRoots } from '../models/store.js';
import type { Config } from './config.js';
import { ownCommand } from '../package-root.js';

/**
 * The path of the model. null: no model; sound that is louder than the background counts as speech. Throws an Error
 * that says what to do.
 */
export function voiceActivityModel(
  { voiceActivity }: Pick<Config, 'voiceActivity'>,
  roots: StoreRoots,
  manifest: Manifest,
): string | null {
  if (voiceActivity === 'energy') return null;
  const entry = findModel(manifest, VOICE_ACTIVITY_MODEL);
  const path = modelPath(roots, entry);
  if (isInstalled(roots, entry)) return path;
  if (voiceActivity === 'auto') return null;
  throw new SetupError(
    `VERBATIM_VAD is "silero", and the model "${entry.name}" is not installed (${path}). ` +
      `Run: ${ownCommand} models pull ${entry.name}`,
  );
}
