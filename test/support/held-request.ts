/** A request that holds a lease of an engine, and is measured there, before it is transcribed. */
import type { FileToTranscribe, Transcript } from '../../src/engine/types.js';
import type { EngineProcess } from './engine-process.js';

const NEVER = new AbortController().signal;

export interface HeldRequest {
  answer: Promise<Transcript>;
  /** Lets it go on. */
  go: () => void;
  /** When it has been measured. */
  arrived: Promise<void>;
}

/** With the engine that serves now. */
export function heldRequest({ engines }: EngineProcess, file: Omit<FileToTranscribe, 'seconds'>): HeldRequest {
  const { reader, speech, release } = engines.acquire(null);
  let go = (): void => undefined;
  const gate = new Promise<void>((resolve) => (go = resolve));
  const measured = reader.measure(file);
  const answer = Promise.all([measured, gate])
    .then(async ([seconds]) => {
      const engine = await speech({ accountId: file.accountId, signal: NEVER });
      return engine.transcribe({ ...file, seconds });
    })
    .finally(release);
  return { answer, go, arrived: measured.then(() => undefined) };
}
