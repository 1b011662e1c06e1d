/**
 * Reads the installed models from manifest files. Separate from the code that uses them, because validation needs a
 * library that the engine's process need not load.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../errors.js';
import { checkedModels } from './entry-shape.js';
import type { Manifest, ModelEntry } from './manifest.js';

/**
 * Reads the package's manifest and, if present, the registry of imported models. Throws an Error that says what is
 * wrong.
 */
export function readManifest(packageRoot: string, modelsDir: string): Manifest {
  const manifest = parse(join(packageRoot, 'models', 'manifest.json')) as Manifest;
  const imported = readImported(modelsDir);
  const names = new Set(imported.map((model) => model.name));
  return { ...manifest, models: [...manifest.models.filter((model) => !names.has(model.name)), ...imported] };
}

export const IMPORTED_FILE = 'imported.json';

/** Empty if there is no registry yet. Throws an Error that says what is wrong with it. */
export function readImported(modelsDir: string): ModelEntry[] {
  try {
    const path = join(modelsDir, IMPORTED_FILE);
    return checkedModels(parse(path), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function parse(path: string): unknown {
  const text = readFileSync(path, 'utf8');
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new SetupError(`${path} is not valid JSON: ${(error as Error).message}`, { cause: error });
  }
}
