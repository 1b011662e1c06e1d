/**
 * Weights of installed models as the engine packed them for its kernels, in a directory beside each model's file. They
 * make later starts faster, and can be removed at any time: mapped files stay readable, and a start packs them again.
 */
import { existsSync, readdirSync, rmSync, statSync, type Dirent } from 'node:fs';
import { join } from 'node:path';

const SUFFIX = '.packed';

/** The most bytes that the packed weights of all models in a directory take. */
export const MOST_PACKED_BYTES = 16 * 2 ** 30;

/** A file that its process has not finished in this time was left behind by a crash. */
const PART_MS = 3_600_000;

/** `path`: the model's file. */
export function packedDirectory(path: string): string {
  return `${path}${SUFFIX}`;
}

/** The size of a model's packed weights. */
export function packedBytes(path: string): number {
  return filesIn(packedDirectory(path), '.weights').reduce((sum, { size }) => sum + size, 0);
}

/** For a model that is replaced. */
export function removePackedWeights(path: string): void {
  remove(packedDirectory(path));
}

/**
 * Removes packed weights of models that are gone, and what crashes left behind. Then removes the least recently used
 * files until the others take no more than `mostBytes`.
 */
export function tidyPackedWeights(modelsDir: string, mostBytes = MOST_PACKED_BYTES, now = Date.now()): void {
  const kept: File[] = [];
  for (const { name } of entriesOf(modelsDir).filter((entry) => entry.isDirectory() && entry.name.endsWith(SUFFIX))) {
    const directory = join(modelsDir, name);
    if (!existsSync(directory.slice(0, -SUFFIX.length))) {
      remove(directory);
      continue;
    }
    for (const { path, usedMs } of filesIn(directory, '.part')) if (usedMs + PART_MS < now) remove(path);
    kept.push(...filesIn(directory, '.weights'));
  }
  let bytes = kept.reduce((sum, { size }) => sum + size, 0);
  for (const { path, size } of kept.toSorted((one, other) => one.usedMs - other.usedMs)) {
    if (bytes <= mostBytes) return;
    remove(path);
    bytes -= size;
  }
}

interface File {
  path: string;
  size: number;
  /** The engine sets a file's time when it uses it. */
  usedMs: number;
}

function filesIn(directory: string, extension: string): File[] {
  const names = entriesOf(directory).map(({ name }) => name);
  return names
    .filter((name) => name.endsWith(extension))
    .flatMap((name) => {
      const path = join(directory, name);
      const found = statSync(path, { throwIfNoEntry: false });
      return found === undefined ? [] : [{ path, size: found.size, usedMs: found.mtimeMs }];
    });
}

/** Empty if the directory is missing or cannot be read. */
function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Another process may remove it too, or nobody may. */
function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // It stays. Nothing is wrong but its size.
  }
}
