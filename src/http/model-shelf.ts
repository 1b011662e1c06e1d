/** The models on a server's disk, as its operator sees and gets them. */

/** 'unavailable': neither there nor to be downloaded. */
export type ShelfState = 'installed' | 'available' | 'downloading' | 'checking' | 'failed' | 'unavailable';

export interface ShelvedModel {
  name: string;
  /** In words: 'speech'. */
  kind: string;
  licence: string;
  state: ShelfState;
  /** Of its files that are here; of 'available', what a download goes on from. */
  receivedBytes: number;
  /** null: nobody has said. */
  totalBytes: number | null;
  /** Of 'failed', in a sentence. */
  problem: string | null;
}

export interface ModelShelf {
  list(): ShelvedModel[];
  /** Begins, and goes on when nobody looks. Throws `invalid_request`, naming what is allowed; `rate_limited` while as many run as may. */
  download(name: string): void;
  /** Whether it ran. What there is of it stays for the next time. */
  cancel(name: string): boolean;
}
