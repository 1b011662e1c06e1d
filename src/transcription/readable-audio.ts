/** Recordings of browsers and phones, and videos, which the engine does not read itself. */
import { rename } from 'node:fs/promises';
import type { AudioToMeasure, SpeechEngine } from '../engine/types.js';

/**
 * One that the engine does not read gives way to one that it does: nobody needs the original again. Resolves to the milliseconds
 * that it took; rejects as SpeechEngine.convertFile(), the file as it was.
 */
export async function makeReadable(
  engine: Pick<SpeechEngine, 'convertFile'>,
  file: AudioToMeasure,
): Promise<number> {
  const to = `${file.path}.flac`;
  const converted = await engine.convertFile({ ...file, to });
  if (converted === null) return 0;
  await rename(to, file.path);
  return converted.milliseconds;
}
