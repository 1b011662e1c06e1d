/** Takes a model a person already has into the models directory and its registry. */
import { copyFileSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { IMPORTED_FILE, readImported, type ModelEntry, type SpeechModelEntry } from './manifest.js';
import { hashFile, type StoreRoots } from './store.js';

export interface ImportSpeechOptions {
  roots: StoreRoots;
  name?: string;
  /** Name of a window policy of the manifest. */
  windows: string;
  /** Whether it was trained for Whisper's translate task. */
  translates: boolean;
  /** Loads the file once and throws when it is no usable model; returns the languages its weights know. */
  check: (path: string) => Promise<string[]>;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Copies a ggml Whisper file; nothing is registered unless the file loads. */
export async function importSpeechModel(
  path: string,
  options: ImportSpeechOptions,
): Promise<SpeechModelEntry> {
  if (!statSync(path).isFile()) throw new Error(`${path} is not a file.`);
  const name = validName(options.name ?? basename(path, '.bin').replace(/^ggml-/, ''));
  const languages = await options.check(path);
  if (options.translates && languages.length === 1) {
    throw new Error(`The model knows ${languages.join()} alone: there is nothing that it could translate.`);
  }
  const file = `ggml-${name}.bin`;
  const target = join(options.roots.modelsDir, file);
  mkdirSync(options.roots.modelsDir, { recursive: true });
  const part = `${target}.part`;
  try {
    copyFileSync(path, part);
    renameSync(part, target);
  } finally {
    rmSync(part, { force: true });
  }
  const entry: SpeechModelEntry = {
    name,
    kind: 'speech',
    file,
    size: statSync(target).size,
    sha256: await hashFile(target, 'sha256'),
    licence: 'unknown',
    source: `imported from ${basename(path)}`,
    languages: languages.length === 1 ? languages : 'whisper',
    windows: options.windows,
    ...(options.translates ? { translates: true } : {}),
  };
  register(options.roots.modelsDir, entry);
  return entry;
}

export function validName(name: string): string {
  if (!NAME.test(name)) {
    throw new Error(
      `"${name}" cannot be a model name: 1 to 64 letters, digits, '.', '_' and '-', first a letter or digit.`,
    );
  }
  return name;
}

/** Adds or replaces an entry in the registry of imported models, atomically. */
export function register(modelsDir: string, entry: ModelEntry): void {
  const models = [...readImported(modelsDir).filter((model) => model.name !== entry.name), entry];
  const path = join(modelsDir, IMPORTED_FILE);
  const part = `${path}.part`;
  writeFileSync(part, `${JSON.stringify({ models }, null, 2)}\n`);
  renameSync(part, path);
}
