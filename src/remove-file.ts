import { unlink } from 'node:fs/promises';

/**
 * One that is gone already is none the less removed. In one system call, where rm() of Node's looks first what it is.
 */
export async function removeFile(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
