/**
 * The command as it is installed: a child that Node starts from `dist` takes a third of the processor time of one that
 * tsx compiles. A build of other sources than these is refused, so that no test judges it.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageRoot } from '../../src/package-root.js';

const DIST = join(packageRoot, 'dist');

/** What tsc notes of its last build, as of TypeScript 5.9: `version` is the SHA-256 of a source. */
interface BuildInfo {
  fileNames: string[];
  fileInfos: (string | { version: string })[];
  affectedFilesPendingEmit?: unknown[];
}

/** Sources that `directory`, which tsc has built, is not of; all, where tsc has not built it. */
export function staleSources(directory = DIST): string[] {
  const path = join(directory, 'tsconfig.build.tsbuildinfo');
  if (!existsSync(path)) return [path];
  const { fileNames, fileInfos, affectedFilesPendingEmit = [] } = JSON.parse(readFileSync(path, 'utf8')) as BuildInfo;
  if (affectedFilesPendingEmit.length > 0) return [path];
  return fileNames.flatMap((name, index) => {
    const source = resolve(directory, name);
    if (source.includes('/node_modules/')) return [];
    const info = fileInfos[index]!;
    return versionOf(source) === (typeof info === 'string' ? info : info.version) ? [] : [source];
  });
}

function versionOf(source: string): string | null {
  return existsSync(source) ? createHash('sha256').update(readFileSync(source)).digest('hex') : null;
}

let isChecked = false;

/** Path of a file of the build. */
export function built(...path: readonly string[]): string {
  if (!isChecked) {
    const [stale] = staleSources();
    if (stale !== undefined) throw new Error(`dist is not built of ${stale} as it is now. Run: npm run build:ts`);
    isChecked = true;
  }
  return join(DIST, ...path);
}

/** Words for Node that run the command line. */
export const verbatim = (...words: readonly string[]): string[] => [built('src', 'main.js'), ...words];
