import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Stands for standard input among the files of a command line. */
export const STANDARD_INPUT = '-';

/**
 * Copies standard input to a file below TMPDIR, because audio is read more than once. `work` gets the path. The file is
 * removed when `work` is done.
 */
export async function withStandardInput<T>(signal: AbortSignal, work: (path: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'verbatim-'));
  try {
    const path = join(directory, 'stdin');
    await pipeline(process.stdin, createWriteStream(path), { signal });
    return await work(path);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
