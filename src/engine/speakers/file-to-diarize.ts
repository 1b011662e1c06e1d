export interface FileToDiarize {
  path: string;
  /** Of the whole file, exact. */
  durationSeconds: number;
  /** Default: 1 to 20. */
  minSpeakers?: number;
  maxSpeakers?: number;
  signal?: AbortSignal;
}
