import { unlink } from 'node:fs/promises';

/** Succeeds where there is no file, too. It is one system call; Node's rm() looks first what kind of file it is. */
export async function removeFile(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
