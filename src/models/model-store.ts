/** The models on a server's disk, for its operator. */

/** 'unavailable': not installed, and cannot be downloaded. */
export type StoredModelState = 'installed' | 'available' | 'downloading' | 'checking' | 'failed' | 'unavailable';

export interface StoredModel {
  name: string;
  /** For example 'speech'. */
  kind: string;
  licence: string;
  state: StoredModelState;
  /** Bytes of the model's files that are on the disk. A download of an 'available' model resumes from them. */
  receivedBytes: number;
  /** null: unknown. */
  totalBytes: number | null;
  /** Why a 'failed' download failed, as a sentence. */
  problem: string | null;
}

export interface ModelsInMemory {
  /** Names of speech models. */
  loaded: readonly string[];
  /** What the processes with models hold, and what they may; Infinity: no limit is known. */
  usedBytes: number;
  limitBytes: number;
}

export interface ModelStore {
  list(): StoredModel[];
  /**
   * Starts a download, which runs in the background. Throws `invalid_request` with the allowed names, or `rate_limited`
   * while the maximum number of downloads run.
   */
  download(name: string): void;
  /** Returns whether the download was running. Its part files stay and the next download resumes from them. */
  cancel(name: string): boolean;
}
