import { closeSync, fsync, openSync } from 'node:fs';

/** Writes a file's cached pages to the disk. */
export type SyncFile = (descriptor: number) => Promise<void>;

/**
 * Waits, beside the event loop, until the write-ahead log is on the disk: a slow disk does not delay other requests.
 * Callers that wait at the same time share one fsync. After a failed fsync none is trusted until recover(): the system
 * reports a page that it could not write once, and treats it as written afterwards.
 */
export class LogSync {
  #descriptor: number | null = null;
  #running: Promise<void> = Promise.resolve();
  /** Begins when the one that runs has ended. */
  #next: Promise<void> | null = null;
  #failure: { error: unknown } | null = null;
  #isClosed = false;

  /**
   * `path`: of the log, which is there from the first commit on. Its own descriptor: SQLite's locks are not on this
   * file.
   */
  constructor(
    private readonly path: string,
    private readonly sync: SyncFile = syncFile,
  ) {}

  /** Why nothing counts as on the disk; null: nothing is wrong. */
  get failure(): { error: unknown } | null {
    return this.#failure;
  }

  /** Resolves when every commit before the call is on the disk. Rejects with the system's error. */
  synced(): Promise<void> {
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      const sync = this.#begin();
      this.#running = sync.catch(() => undefined);
      return sync;
    });
    return this.#next;
  }

  /** For a log that was written into the database: a sync that succeeds is believed again. Rejects as synced(). */
  async recover(): Promise<void> {
    await this.#running;
    await this.sync(this.#open());
    this.#failure = null;
  }

  /** Once the database is closed: its last word is on the disk already. */
  close(): void {
    this.#isClosed = true;
    void this.#running.then(() => {
      if (this.#descriptor !== null) closeSync(this.#descriptor);
      this.#descriptor = null;
    });
  }

  async #begin(): Promise<void> {
    if (this.#failure !== null) throw this.#failure.error;
    if (this.#isClosed) return;
    try {
      await this.sync(this.#open());
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }

  #open(): number {
    return (this.#descriptor ??= openSync(this.path, 'r'));
  }
}

function syncFile(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(descriptor, (error) => (error === null ? resolve() : reject(error)));
  });
}
