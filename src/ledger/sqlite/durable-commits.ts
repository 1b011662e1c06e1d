import { VerbatimError } from '../../errors.js';
import type { Timer, Timers } from '../../timers.js';
import type { LogSync } from './log-sync.js';

/** Between attempts to have a disk again that failed. */
const RETRY_MS = 1_000;

export interface DurableCommitsDeps {
  log: LogSync;
  timers: Timers;
  /** Brings all that is committed into the database's file, and that onto the disk; throws when it cannot just now. */
  writeOut: () => void;
  onRecovered: () => void;
  onError: (error: unknown) => void;
}

/** Commits that count when they are on the disk, and the behaviour while the disk takes none. */
export class DurableCommits {
  #unsynced = 0;
  #retry: Timer | null = null;
  #recovered: (() => void)[] = [];
  #ended = false;

  constructor(private readonly deps: DurableCommitsDeps) {}

  get isFailing(): boolean {
    return this.deps.log.failure !== null;
  }

  /** Whether something is committed that may be undone yet. */
  get hasUnsynced(): boolean {
    return this.#unsynced > 0;
  }

  /** Throws `overloaded` while the disk takes no commits. */
  refuseWhileFailing(): void {
    const { failure } = this.deps.log;
    if (failure !== null) throw notTaken(failure.error);
  }

  /** Commits, and resolves when it is on the disk. A disk that fails: `undo`es it, and throws `overloaded`. */
  async commit<T>(commit: () => Promise<T>, undo: (done: T) => Promise<void>): Promise<T> {
    this.refuseWhileFailing();
    this.#unsynced += 1;
    try {
      const done = await commit();
      try {
        await this.#synced();
      } catch (error) {
        await undo(done);
        throw notTaken(error);
      }
      return done;
    } finally {
      this.#unsynced -= 1;
    }
  }

  /** As `commit` has done it; resolves when it is on the disk, however long that takes, or the ledger closes. */
  async commitUntilSynced<T>(commit: () => Promise<T>): Promise<T> {
    const done = await commit();
    while (!this.#ended) {
      try {
        await this.#synced();
        break;
      } catch {
        await new Promise<void>((resolve) => this.#recovered.push(resolve));
      }
    }
    return done;
  }

  /** Rejects with `overloaded` when rows that were read may not be on the disk. */
  async confirm(): Promise<void> {
    await this.#synced().catch((error: unknown) => {
      throw notTaken(error);
    });
  }

  end(): void {
    this.#ended = true;
    this.#retry?.cancel();
    this.#release();
  }

  async #synced(): Promise<void> {
    try {
      await this.deps.log.synced();
    } catch (error) {
      if (this.#retry === null) this.deps.onError(error);
      this.#schedule();
      throw error;
    }
  }

  #schedule(): void {
    if (this.#retry !== null || this.#ended) return;
    this.#retry = this.deps.timers.after(RETRY_MS, () => void this.#recover());
  }

  async #recover(): Promise<void> {
    const { log, writeOut, onRecovered, onError } = this.deps;
    try {
      writeOut();
      await log.recover();
      this.#retry = null;
      onRecovered();
      this.#release();
    } catch (error) {
      onError(error);
      this.#retry = null;
      if (this.isFailing) this.#schedule();
    }
  }

  #release(): void {
    for (const resolve of this.#recovered.splice(0)) resolve();
  }
}

function notTaken(cause: unknown): VerbatimError {
  return new VerbatimError(
    'overloaded',
    'The disk under the database does not take what is written; nothing was charged. Try again shortly.',
    { retryAfterSeconds: 1, cause },
  );
}
