/** A directory of this process's own for uploads, and the removal of those that crashed processes left behind. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { makeDirectory } from '../../make-directory.js';
import { removeFile } from '../../remove-file.js';

const PREFIX = 'verbatim-upload';

export class UploadDirectory {
  private constructor(readonly path: string) {}

  /** `base` is made if it is missing, and shared with other servers. */
  static async create(base: string): Promise<UploadDirectory> {
    makeDirectory(base);
    await removeStale(base);
    const owner = `${hostTag()}-${process.pid}-${startTime(process.pid) ?? 0}`;
    const directory = new UploadDirectory(join(base, `${PREFIX}-${owner}-${randomUUID().slice(0, 8)}`));
    await directory.ensure();
    return directory;
  }

  /** Made again if something has removed it: a server may run longer than a cleaner of old files is patient. */
  async ensure(): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
  }

  /** Rejects when an upload could not be written now. */
  async checkWritable(): Promise<void> {
    await this.ensure();
    const path = this.newPath();
    await writeFile(path, '?', { flag: 'wx', mode: 0o600 });
    await removeFile(path);
  }

  /** Never made from anything the client sent. */
  newPath(): string {
    return join(this.path, randomUUID());
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

/** What another user's or another machine's servers left (a shared volume, another container) is their own business. */
async function removeStale(base: string): Promise<void> {
  const pattern = new RegExp(`^${PREFIX}-${hostTag()}-(\\d+)-(\\d+)-`);
  for (const name of await readdir(base)) {
    const [, pid, started] = pattern.exec(name) ?? [];
    if (pid === undefined || startTime(Number(pid)) === Number(started)) continue;
    await rm(join(base, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function hostTag(): string {
  return hostname().replace(/[^A-Za-z0-9]/g, '_');
}

/**
 * Clock ticks since boot at which the process started, null when it is gone: process ids are used again, this pair is
 * not.
 */
function startTime(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Field 22; the command name before it is in parentheses and may hold anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
  } catch {
    return null;
  }
}
