/** Files of audio by the ids of what they belong to, in a directory that all servers of a database share. */
import { constants } from 'node:fs';
import { access, copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { makeDirectory } from './make-directory.js';

/** A file is there a moment before its owner is known. */
const ORPHAN_AGE_MS = 600_000;

export interface AudioOwners {
  /** For messages: a job. */
  kind: string;
  /** The form of their ids; all else in the directory is left alone. */
  ids: RegExp;
  /** The path of a file that may lie beside one's audio, and goes with it: its name is the id with an extension. */
  beside?: (path: string) => string;
}

export class AudioDirectory {
  constructor(
    private readonly directory: string,
    private readonly owners: AudioOwners,
  ) {}

  /** Throws an Error for what is no id: no request chooses a path. */
  path(id: string): string {
    const { ids, kind } = this.owners;
    if (!ids.test(id)) throw new Error(`"${id}" is not the id of a ${kind}.`);
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

  async remove(id: string): Promise<void> {
    for (const file of this.#filesOf(id)) await rm(file, { force: true });
  }

  /**
   * Removes what servers left that died at the wrong moment. `isOver`: of each id that is known, whether its audio may
   * go; that of unknown ones goes once it is old.
   */
  async sweep(isOver: (ids: readonly string[]) => Promise<ReadonlyMap<string, boolean>>, now: number): Promise<void> {
    makeDirectory(this.directory);
    const names = await readdir(this.directory);
    const ids = [...new Set(names.map((name) => parse(name).name))].filter((name) => this.owners.ids.test(name));
    const over = await isOver(ids);
    for (const id of ids) {
      if (over.get(id) ?? (await this.#isOld(id, now))) await this.remove(id);
    }
  }

  async #isOld(id: string, now: number): Promise<boolean> {
    for (const file of this.#filesOf(id).reverse()) {
      const found = await stat(file).catch(() => null);
      if (found !== null) return found.mtimeMs < now - ORPHAN_AGE_MS;
    }
    return false;
  }

  #filesOf(id: string): string[] {
    const path = this.path(id);
    const { beside } = this.owners;
    return [...(beside === undefined ? [] : [beside(path)]), path];
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
