/** Is notified when models are loaded and unloaded. */
export interface LoadObserver {
  modelLoaded(model: string, milliseconds: number): void;
  modelUnloaded(model: string, reason: UnloadReason): void;
}

/** 'replaced': the model has become the default model. */
export type UnloadReason = 'idle' | 'memory' | 'replaced';
