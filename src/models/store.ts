/** Where models are on the disk, and whether their files match the manifest. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ModelEntry, ModelFile } from './manifest.js';

export interface StoreRoots {
  packageRoot: string;
  modelsDir: string;
}

/** The directory that a model's paths are relative to. */
export function modelRoot(roots: StoreRoots, entry: ModelEntry): string {
  return entry.bundled === true ? join(roots.packageRoot, 'models') : roots.modelsDir;
}

/** The path that the engine loads: a directory for translation models, else a file. */
export function modelPath(roots: StoreRoots, entry: ModelEntry): string {
  return join(modelRoot(roots, entry), entry.kind === 'translation' ? entry.directory : entry.file);
}

export function modelFiles(entry: ModelEntry): ModelFile[] {
  return entry.kind === 'translation' ? entry.files : [entry];
}

/** The size of all files in bytes; null: the manifest does not give it. */
export function modelBytes(entry: ModelEntry): number | null {
  const sizes = modelFiles(entry).map(({ size }) => size);
  return sizes.includes(undefined) ? null : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

export function isInstalled(roots: StoreRoots, entry: ModelEntry): boolean {
  const root = modelRoot(roots, entry);
  // An archive that is not unpacked yet does not count as installed.
  if (entry.kind === 'translation' && !existsSync(join(root, entry.directory, 'model.bin'))) return false;
  return modelFiles(entry).every((file) => existsSync(join(root, file.file)));
}

/** What a file was checked against, which depends on what the manifest gives. */
export type Checked = 'checksum' | 'size' | 'presence';

export type VerifyResult = { file: string; checked: Checked } & ({ ok: true } | { ok: false; problem: string });

export function checkedBy({ size, sha1, sha256 }: ModelFile): Checked {
  if ((sha256 ?? sha1) !== undefined) return 'checksum';
  return size === undefined ? 'presence' : 'size';
}

export async function verifyModel(roots: StoreRoots, entry: ModelEntry): Promise<VerifyResult[]> {
  const root = modelRoot(roots, entry);
  const results: VerifyResult[] = [];
  for (const file of modelFiles(entry)) {
    const problem = await fileProblem(join(root, file.file), file);
    const checkedFile = { file: file.file, checked: checkedBy(file) };
    results.push(problem === null ? { ...checkedFile, ok: true } : { ...checkedFile, ok: false, problem });
  }
  return results;
}

/** The problem with a file, or null. Checks the size first because that is cheap, then the checksum. */
export async function fileProblem(path: string, expected: ModelFile): Promise<string | null> {
  if (!existsSync(path)) return 'missing';
  const { size } = statSync(path);
  if (expected.size !== undefined && size !== expected.size) {
    return `has ${size} bytes instead of ${expected.size}`;
  }
  const algorithm = expected.sha256 === undefined ? 'sha1' : 'sha256';
  const wanted = expected.sha256 ?? expected.sha1;
  if (wanted === undefined) return null;
  const actual = await hashFile(path, algorithm);
  return actual === wanted ? null : `has ${algorithm} ${actual} instead of ${wanted}`;
}

export async function hashFile(path: string, algorithm: 'sha1' | 'sha256'): Promise<string> {
  const hash = createHash(algorithm);
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
