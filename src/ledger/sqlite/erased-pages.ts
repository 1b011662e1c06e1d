import type Database from 'better-sqlite3';

/** The write-ahead log, in which pages of deleted texts stay until it is emptied. */
export class ErasedPages {
  #areInLog = false;

  constructor(private readonly database: Database.Database) {}

  /** Within the transaction that deletes a text. */
  readonly note = (): void => {
    this.#areInLog = true;
  };

  /** Writes the log into the database, and empties it. False: another process reads it. */
  emptyLog(): boolean {
    const [outcome] = this.database.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
    if (outcome?.busy !== 0) return false;
    this.#areInLog = false;
    return true;
  }

  /** When a text was deleted since it was last emptied; else it costs nothing. */
  sweep(): void {
    if (this.#areInLog) this.emptyLog();
  }
}
