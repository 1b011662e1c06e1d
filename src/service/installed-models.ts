import { isInstalled } from '../models/store.js';
import { readContext } from './context.js';

/** Those of the manifest and those imported since, as they lie on the disk now. */
export function installedSpeechModels(): string[] {
  const { roots, manifest } = readContext();
  return manifest.models
    .filter((entry) => entry.kind === 'speech' && isInstalled(roots, entry))
    .map(({ name }) => name);
}
