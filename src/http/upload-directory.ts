/** A directory of this process's own for uploads, and the removal of those that crashed processes left behind. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'verbatim-upload';

export class UploadDirectory {
  private constructor(readonly path: string) {}

  static async create(base: string = tmpdir()): Promise<UploadDirectory> {
    await removeStale(base);
    const owner = `${hostTag()}-${process.pid}-${startTime(process.pid) ?? 0}`;
    return new UploadDirectory(await mkdtemp(join(base, `${PREFIX}-${owner}-`)));
  }

  /** Never made from anything the client sent. */
  newPath(): string {
    return join(this.path, randomUUID());
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

/** Another machine's directories (a shared volume, another container) are its own business. */
async function removeStale(base: string): Promise<void> {
  const pattern = new RegExp(`^${PREFIX}-${hostTag()}-(\\d+)-(\\d+)-`);
  for (const name of await readdir(base)) {
    const [, pid, started] = pattern.exec(name) ?? [];
    if (pid === undefined || startTime(Number(pid)) === Number(started)) continue;
    await rm(join(base, name), { recursive: true, force: true });
  }
}

function hostTag(): string {
  return hostname().replace(/[^A-Za-z0-9]/g, '_');
}

/** Clock ticks since boot at which the process started, null when it is gone: process ids are used again, this pair is not. */
function startTime(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Field 22; the command name before it is in parentheses and may hold anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
  } catch {
    return null;
  }
}
