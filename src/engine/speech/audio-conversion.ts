/** Files that only ffmpeg reads, made into ones that the engine reads, in the same turns as files are measured in. */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { removeFile } from '../../remove-file.js';
import type { Clock } from '../clock.js';
import { containerOf } from '../media/containers.js';
import { Conversion } from '../media/conversion.js';
import type { FileToConvert } from '../types.js';
import { refuseTooMuch } from './audio-file.js';
import type { MeasuringQueue } from './measuring-queue.js';

export interface Converter {
  /** A path, or a name in the directories where programs are. */
  ffmpeg: string;
  measuring: MeasuringQueue;
  clock: Clock;
}

/** As SpeechEngine.convertFile(). */
export async function convertFile(
  { ffmpeg, measuring, clock }: Converter,
  file: FileToConvert,
): Promise<{ milliseconds: number } | null> {
  const { path, accountId, signal, maxSeconds = Infinity } = file;
  signal?.throwIfAborted();
  const container = await containerOf(path);
  if (container === null) return null;
  file.covers?.(0);
  const job = { from: resolve(path), to: resolve(file.to), container, maxSeconds };
  const begun: Conversion[] = [];
  const gone = (): Promise<unknown> => Promise.all(begun.map((conversion) => conversion.gone));
  const open = async (): Promise<Conversion> => {
    await gone();
    const conversion = new Conversion(ffmpeg, job, clock);
    begun.push(conversion);
    return conversion;
  };
  try {
    await makePrivateFile(job.to);
    const check = (conversion: Conversion): void => refuseTooMuch(conversion, file);
    const { spentMs } = await measuring.run({ accountId, signal, hasTrial: true, open, check });
    return { milliseconds: spentMs };
  } catch (error) {
    await gone();
    await removeFile(job.to);
    throw error;
  }
}

/** ffmpeg would make one that everybody may read. */
async function makePrivateFile(path: string): Promise<void> {
  await removeFile(path);
  await writeFile(path, '', { flag: 'wx', mode: 0o600 });
}
