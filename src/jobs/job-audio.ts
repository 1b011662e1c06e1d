/** Where the audio of jobs lies until they end: a directory that all servers of the database share. */
import { randomBytes } from 'node:crypto';
import { AudioDirectory } from '../audio-directory.js';
import type { JobLedger } from '../ledger/jobs.js';
import { convertedPath } from '../transcription/work.js';

const JOB_ID = /^job_[A-Za-z0-9_-]{22}$/;

export function newJobId(): string {
  return `job_${randomBytes(16).toString('base64url')}`;
}

export class JobAudio {
  readonly #files: AudioDirectory;

  constructor(directory: string) {
    // Beside it lies the unfinished conversion of a server that died.
    this.#files = new AudioDirectory(directory, { kind: 'job', ids: JOB_ID, beside: convertedPath });
  }

  path(id: string): string {
    return this.#files.path(id);
  }

  /** Moves a file here; when this resolves it is on the disk. */
  keep(from: string, id: string): Promise<void> {
    return this.#files.keep(from, id);
  }

  has(id: string): Promise<boolean> {
    return this.#files.has(id);
  }

  remove(id: string): Promise<void> {
    return this.#files.remove(id);
  }

  /** Removes what servers left that died at the wrong moment: audio of jobs that have ended, or were never made. */
  sweep(knownAmong: JobLedger['knownAmong'], now: number): Promise<void> {
    const ended = async (ids: readonly string[]): Promise<Map<string, boolean>> =>
      new Map((await knownAmong(ids)).map((job) => [job.id, job.ended]));
    return this.#files.sweep(ended, now);
  }
}
