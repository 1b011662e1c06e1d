/**
 * How long a piece of work may wait for other processes, and whether it must be on the disk before its caller gets an
 * answer. What must be on the disk throws `overloaded` while the disk takes no commits.
 */
export interface Transactions {
  readonly read: Run;
  /** All of it or nothing, on the disk when it is done; the event loop waits for that. */
  readonly atomic: Run;
  /**
   * The same beside the event loop. When the disk does not take it, `undo` runs in a transaction, and it throws
   * `overloaded`; without `undo` it stays, unless the machine loses power.
   */
  readonly write: <T>(work: () => T, undo?: (done: T) => void) => Promise<T>;
  /** All of it or nothing, for rows that a start after a power cut can do without. */
  readonly passing: Run;
  /** Waits until it is done and on the disk, or the ledger closes. */
  readonly settle: Run;
  /** Waits until it is done or the ledger closes. A charge that the disk does not take is reversed. */
  readonly charge: <T>(work: () => Charged<T>) => Promise<T>;
  /** For what must be undone: now if it can be written now, else as soon as it can. Never waits. */
  readonly undo: (work: () => void) => Promise<void>;
  /** Runs `work` as `run` does; what isResult() is on the disk before it is answered. */
  readonly confirmed: <T>(run: Run, work: () => T, isResult: (value: T) => boolean) => Promise<T>;
  /** Throws `overloaded` while the disk takes no commits. */
  readonly refuseWhileFailing: () => void;
  readonly isFailing: () => boolean;
}

export type Run = <T>(work: () => T) => Promise<T>;

export interface Charged<T> {
  value: T;
  /** Of the hold that was settled; null: none was. */
  holdId: number | null;
}
