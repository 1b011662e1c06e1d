/** Where the audio of jobs lies until they end: a directory that all servers of the database share. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { makeDirectory } from '../make-directory.js';
import type { JobLedger } from '../ledger/jobs.js';
import { convertedPath } from '../transcription/work.js';

const JOB_ID = /^job_[A-Za-z0-9_-]{22}$/;

/** A file is there a moment before its job is known. */
const ORPHAN_AGE_MS = 600_000;

export function newJobId(): string {
  return `job_${randomBytes(16).toString('base64url')}`;
}

export class JobAudio {
  constructor(private readonly directory: string) {}

  path(id: string): string {
    if (!JOB_ID.test(id)) throw new Error(`"${id}" is no job's id.`);
    return join(this.directory, id);
  }

  /** Moves a file here; when this resolves it is on the disk. */
  async keep(from: string, id: string): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const path = this.path(id);
    try {
      await move(from, path);
      await toDisk(path);
      await toDisk(dirname(path));
    } catch (error) {
      await this.remove(id);
      throw error;
    }
  }

  async has(id: string): Promise<boolean> {
    return access(this.path(id), constants.R_OK).then(
      () => true,
      () => false,
    );
  }

  /** And the unfinished conversion of a server that died. */
  async remove(id: string): Promise<void> {
    const path = this.path(id);
    for (const file of [convertedPath(path), path]) await rm(file, { force: true });
  }

  /** Removes what servers left that died at the wrong moment: audio of jobs that have ended, or were never made. */
  async sweep(knownAmong: JobLedger['knownAmong'], now: number): Promise<void> {
    makeDirectory(this.directory);
    const names = await readdir(this.directory);
    const ids = [...new Set(names.map((name) => parse(name).name))].filter((name) => JOB_ID.test(name));
    const known = new Map((await knownAmong(ids)).map(({ id, ended }) => [id, ended]));
    for (const id of ids) {
      if (known.get(id) ?? (await this.#isOld(id, now))) await this.remove(id);
    }
  }

  async #isOld(id: string, now: number): Promise<boolean> {
    const path = this.path(id);
    const found = (await stat(path).catch(() => null)) ?? (await stat(convertedPath(path)).catch(() => null));
    return found !== null && found.mtimeMs < now - ORPHAN_AGE_MS;
  }
}

async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL);
    await rm(from, { force: true });
  }
}

async function toDisk(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
