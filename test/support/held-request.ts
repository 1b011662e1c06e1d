/** A request that is in an engine, and waits there before anything of it is transcribed. */
import type { FileToTranscribe, Transcript } from '../../src/engine/types.js';
import type { EngineProcess } from './engine-process.js';

export interface HeldRequest {
  answer: Promise<Transcript>;
  /** Lets it go on. */
  go: () => void;
  /** When it has been measured. */
  arrived: Promise<void>;
}

/** In the engine that serves now. */
export function heldRequest(
  { engines }: EngineProcess,
  file: Omit<FileToTranscribe, 'measured'>,
): HeldRequest {
  const { engine, giveBack } = engines.lend();
  let go = (): void => undefined;
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const gate = new Promise<void>((resolve) => (go = resolve));
  const measured = (): Promise<void> => {
    arrive();
    return gate;
  };
  return { answer: engine.transcribeFile({ ...file, measured }).finally(giveBack), go, arrived };
}
