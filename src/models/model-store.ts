/** The models on a server's disk, as its operator sees and gets them. */

/** 'unavailable': neither there nor to be downloaded. */
export type StoredModelState = 'installed' | 'available' | 'downloading' | 'checking' | 'failed' | 'unavailable';

export interface StoredModel {
  name: string;
  /** In words: 'speech'. */
  kind: string;
  licence: string;
  state: StoredModelState;
  /** Of its files that are here; of 'available', what a download goes on from. */
  receivedBytes: number;
  /** null: unknown. */
  totalBytes: number | null;
  /** Of 'failed', in a sentence. */
  problem: string | null;
}

export interface ModelStore {
  list(): StoredModel[];
  /**
   * Begins, and goes on when nobody looks. Throws `invalid_request`, naming what is allowed; `rate_limited` while as
   * many run as may.
   */
  download(name: string): void;
  /** Whether it ran. What there is of it stays for the next time. */
  cancel(name: string): boolean;
}
