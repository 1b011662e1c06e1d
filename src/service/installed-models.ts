import { isInstalled } from '../models/store.js';
import { readContext } from './context.js';

/** The models of the manifest and those imported since, by the files on the disk now. */
export function installedSpeechModels(): string[] {
  const { roots, manifest } = readContext();
  return manifest.models
    .filter((entry) => entry.kind === 'speech' && isInstalled(roots, entry))
    .map(({ name }) => name);
}
