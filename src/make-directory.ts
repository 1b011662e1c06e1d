/** Directories, with those above them. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const FOR_THIS_USER = 0o700;
/** As the user's umask has it. */
export const SHARED = 0o777;

/**
 * Node's own `recursive` never ends where the file system makes no directories: mkdir(2) below /proc fails with ENOENT,
 * which Node takes for a parent that is missing.
 */
export function makeDirectory(path: string, mode = FOR_THIS_USER): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && isDirectory(path)) return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || parent === path || isDirectory(parent)) throw error;
    makeDirectory(parent, mode);
    makeDirectory(path, mode);
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
