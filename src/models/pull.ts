/** Downloads a model, and unpacks it if it is published as an archive. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { downloadModel, type DownloadOptions } from './download.js';
import { importTranslationModel, isArchive, type ImportTranslationOptions } from './import-translation.js';
import type { ModelEntry, TranslationModelEntry } from './manifest.js';
import { modelRoot } from './store.js';

export interface PullOptions extends DownloadOptions {
  withModel: ImportTranslationOptions['withModel'];
}

/** Returns whether anything was downloaded. An unpacked archive is registered like an imported model, file by file. */
export async function pullModel(entry: ModelEntry, options: PullOptions): Promise<boolean> {
  const fetched = await downloadModel(entry, options);
  const archive = entry.kind === 'translation' ? entry.files.find(({ file }) => isArchive(file)) : undefined;
  if (entry.kind !== 'translation' || archive === undefined) return fetched.length > 0;
  const path = join(modelRoot(options.roots, entry), archive.file);
  await importTranslationModel(path, {
    roots: options.roots,
    name: entry.name,
    traits: traitsOf(entry),
    withModel: options.withModel,
  });
  rmSync(path);
  return true;
}

function traitsOf(entry: TranslationModelEntry): ImportTranslationOptions['traits'] & object {
  const { from, to, targetToken, sourceToken, codes, licence, source } = entry;
  return {
    from,
    to,
    licence,
    source,
    ...(targetToken === undefined ? {} : { targetToken }),
    ...(sourceToken === undefined ? {} : { sourceToken }),
    ...(codes === undefined ? {} : { codes }),
  };
}
