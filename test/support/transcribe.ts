import type { EngineLease, SpeechRequest } from '../../src/transcription/engine-lease.js';
import type { AudioBudget, FileToTranscribe, OnWindow, SpeechEngine, Transcript } from '../../src/engine/types.js';

/** `seconds`: default, what the engine measures. */
export type FileToMeasureFirst = Omit<FileToTranscribe, 'seconds'> & AudioBudget & { seconds?: number };

/** Both calls that a file takes. */
export async function measureAndTranscribe(
  engine: Pick<SpeechEngine, 'measure' | 'transcribe'>,
  { maxSeconds, payableSeconds, ...file }: FileToMeasureFirst,
  onWindow?: OnWindow,
): Promise<Transcript> {
  const { path, accountId, origin, signal } = file;
  const seconds =
    file.seconds ?? (await engine.measure({ path, accountId, origin, signal, maxSeconds, payableSeconds }));
  return engine.transcribe({ ...file, seconds }, onWindow);
}

/** What a lease measures and transcribes with, as one engine. */
export async function leasedEngine(
  { reader, speech }: Pick<EngineLease, 'reader' | 'speech'>,
  request: SpeechRequest,
): Promise<Pick<SpeechEngine, 'measure' | 'transcribe'>> {
  const engine = await speech(request);
  return {
    measure: (file) => reader.measure(file),
    transcribe: (file, onWindow) => engine.transcribe(file, onWindow),
  };
}
