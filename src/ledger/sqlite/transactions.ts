/** How long a piece of work may wait for other processes, and whether it must be on the disk before its caller is told. */
export interface Transactions {
  read<T>(work: () => T): Promise<T>;
  /** All of it or nothing, on the disk. */
  write<T>(work: () => T): Promise<T>;
  /** The same, for what a start after a power cut may as well do without. */
  passing<T>(work: () => T): Promise<T>;
  /** A write that waits until it is done or the ledger closes. */
  settle<T>(work: () => T): Promise<T>;
}
