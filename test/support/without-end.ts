import type { SpeechEngine } from '../../src/engine/types.js';

/**
 * From now on no transcription of the engine is done before its signal aborts, however fast the machine; the function
 * that comes back undoes this for those that begin later.
 */
export function withoutEnd(engine: SpeechEngine): () => void {
  const transcribe = engine.transcribe.bind(engine);
  engine.transcribe = async (file, onWindow) => {
    await transcribe(file, onWindow);
    return new Promise((_resolve, reject) => {
      const { signal } = file;
      const end = (): void => reject(signal?.reason as Error);
      if (signal?.aborted === true) end();
      else signal?.addEventListener('abort', end);
    });
  };
  return () => {
    engine.transcribe = transcribe;
  };
}
