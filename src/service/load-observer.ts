/** Learns which models come into memory and leave it. */
export interface LoadObserver {
  modelLoaded(model: string, milliseconds: number): void;
  modelUnloaded(model: string, reason: UnloadReason): void;
}

/** 'replaced': it has become the default model. */
export type UnloadReason = 'idle' | 'memory' | 'replaced';
