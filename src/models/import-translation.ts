/** Imports a translation model, local or just downloaded, into the models directory. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeDirectory, SHARED } from '../make-directory.js';
import type { TranslationModelInfo } from '../engine/binding.js';
import { register, validName } from './import.js';
import type { ModelFile, TranslationModelEntry } from './manifest.js';
import { hashFile, type StoreRoots } from './store.js';
import { findTranslationPackage, type TranslationPackage } from './translation-package.js';
import { unzip, type UnzipLimits } from './unzip.js';

/** The parts of a loaded model that the import checks. */
export interface CheckedModel {
  info: Pick<TranslationModelInfo, 'hasTokenizer'>;
  hasSourceToken(token: string): boolean;
  hasTargetToken(token: string): boolean;
}

/** Properties of a model that its files do not give. */
export interface TranslationTraits {
  /** Default: from the package's metadata. */
  from?: readonly string[];
  to?: readonly string[];
  targetToken?: NonNullable<TranslationModelEntry['targetToken']>;
  sourceToken?: string;
  codes?: Record<string, string>;
  licence?: string;
  source?: string;
}

export interface ImportTranslationOptions {
  roots: StoreRoots;
  name?: string;
  traits?: TranslationTraits;
  /** Loads the directory once, passes the model to `look`, and frees it. Throws if it is not a usable model. */
  withModel: (directory: string, look: (model: CheckedModel) => void) => Promise<void>;
  limits?: UnzipLimits;
}

const ARCHIVE = /\.(?:argosmodel|zip)$/i;

export function isArchive(path: string): boolean {
  return ARCHIVE.test(path);
}

/** Copies or unpacks the model. Registers it only if it loads. */
export async function importTranslationModel(
  path: string,
  options: ImportTranslationOptions,
): Promise<TranslationModelEntry> {
  const { roots, traits = {} } = options;
  const name = validName(options.name ?? basename(path).replace(ARCHIVE, ''));
  makeDirectory(roots.modelsDir, SHARED);
  const staging = mkdtempSync(join(roots.modelsDir, '.import-'));
  try {
    const found = findTranslationPackage(await unpacked(path, staging, options.limits));
    const ready = join(staging, 'ready');
    mkdirSync(ready);
    for (const file of found.files) copyFileSync(file.path, join(ready, file.name));
    const languages = resolveTraits(found, traits);
    await options.withModel(ready, (model) => checkModel(model, languages));
    const directory = install(ready, staging, join(roots.modelsDir, name), name);
    const entry: TranslationModelEntry = {
      name,
      kind: 'translation',
      directory,
      files: await hashed(roots.modelsDir, directory, found),
      licence: traits.licence ?? 'unknown',
      source: traits.source ?? `imported from ${basename(path)}`,
      ...languages,
    };
    register(roots.modelsDir, entry);
    return entry;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

async function unpacked(path: string, staging: string, limits: UnzipLimits | undefined): Promise<string> {
  if (statSync(path).isDirectory()) return path;
  if (!isArchive(path)) {
    throw new Error(`${path} is neither a directory nor an archive (.argosmodel, .zip).`);
  }
  const directory = join(staging, 'archive');
  mkdirSync(directory);
  await unzip(path, directory, limits);
  return directory;
}

type Languages = Pick<TranslationModelEntry, 'from' | 'to' | 'targetToken' | 'sourceToken' | 'codes'>;

function resolveTraits(found: TranslationPackage, traits: TranslationTraits): Languages {
  const from = traits.from ?? (found.from === null ? [] : [found.from]);
  const to = traits.to ?? (found.to === null ? [] : [found.to]);
  if (from.length === 0 || to.length === 0) {
    throw new Error('The package does not say which languages it translates; give --from and --to.');
  }
  const prefix = found.targetPrefix;
  const targetToken =
    traits.targetToken ?? (prefix === null ? undefined : { place: 'prefix' as const, template: prefix });
  if (to.length > 1 && targetToken?.template.includes('{}') !== true) {
    throw new Error('A model of several target languages needs one: give --target-token, such as ">>{}<<".');
  }
  return {
    from: [...from],
    to: [...to],
    ...(targetToken === undefined ? {} : { targetToken }),
    ...(traits.sourceToken === undefined ? {} : { sourceToken: traits.sourceToken }),
    ...(traits.codes === undefined ? {} : { codes: traits.codes }),
  };
}

/** Checks that the vocabularies have the given languages. */
function checkModel(model: CheckedModel, languages: Languages): void {
  if (!model.info.hasTokenizer) throw new Error('The model has no SentencePiece model beside its weights.');
  const { from, to, targetToken, sourceToken, codes } = languages;
  const require = (has: boolean, token: string): void => {
    if (!has) throw new Error(`The model's vocabulary lacks the language token "${token}".`);
  };
  const fill = (template: string, language: string): string => template.replace('{}', codes?.[language] ?? language);
  for (const language of targetToken === undefined ? [] : to) {
    const token = fill(targetToken?.template ?? '', language);
    require(targetToken?.place === 'source' ? model.hasSourceToken(token) : model.hasTargetToken(token), token);
  }
  for (const language of sourceToken === undefined ? [] : from) {
    const token = fill(sourceToken ?? '', language);
    require(model.hasSourceToken(token), token);
  }
}

/** Moves the new directory into place. An existing one is removed only when the new one is complete. */
function install(ready: string, staging: string, target: string, name: string): string {
  if (existsSync(target)) renameSync(target, join(staging, 'replaced'));
  renameSync(ready, target);
  return name;
}

async function hashed(modelsDir: string, directory: string, { files }: TranslationPackage): Promise<ModelFile[]> {
  const result: ModelFile[] = [];
  for (const { name } of files) {
    const file = join(directory, name);
    const path = join(modelsDir, file);
    result.push({ file, size: statSync(path).size, sha256: await hashFile(path, 'sha256') });
  }
  return result;
}
