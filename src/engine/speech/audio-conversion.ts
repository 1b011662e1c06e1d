/** Files that only ffmpeg reads, made into ones that the engine reads, in the same turns as files are measured in. */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { VerbatimError } from '../../errors.js';
import { removeFile } from '../../remove-file.js';
import type { Clock } from '../clock.js';
import { containerOf } from '../media/containers.js';
import { Conversion } from '../media/conversion.js';
import { ConversionKilled } from '../media/failures.js';
import type { FileToConvert } from '../types.js';
import { refuseTooMuch } from './audio-file.js';
import type { MeasuringQueue } from './measuring-queue.js';

export interface Converter {
  /** A path, or a name in the directories where programs are. */
  ffmpeg: string;
  measuring: MeasuringQueue;
  clock: Clock;
}

/** As SpeechEngine.convert(). */
export async function convertFile({ ffmpeg, measuring, clock }: Converter, file: FileToConvert): Promise<boolean> {
  const { path, accountId, signal, maxSeconds = Infinity, payableSeconds = Infinity } = file;
  signal?.throwIfAborted();
  const container = await containerOf(path, file.head);
  if (container === null) return false;
  const to = resolve(file.to);
  const job = { from: resolve(path), to, container, maxSeconds: Math.min(maxSeconds, payableSeconds) };
  const begun: Conversion[] = [];
  const gone = (): Promise<unknown> => Promise.all(begun.map((conversion) => conversion.gone));
  const open = async (isDemoted: boolean): Promise<Conversion> => {
    await gone();
    const conversion = new Conversion(ffmpeg, { ...job, isDemoted }, clock);
    begun.push(conversion);
    return conversion;
  };
  try {
    await makePrivateFile(to);
    const check = (conversion: Conversion): void => refuseTooMuch(conversion, file);
    await onceMore(() => measuring.run({ accountId, signal, hasGracePeriod: true, open, check }));
    return true;
  } catch (error) {
    await gone();
    await removeFile(to);
    throw error;
  }
}

/** Retry-After where ffmpeg was killed twice, as happens where memory is short. */
const RETRY_SECONDS = 10;

/** Where somebody else killed ffmpeg the file is not to blame. */
async function onceMore(convert: () => Promise<unknown>): Promise<void> {
  try {
    await convert();
  } catch (error) {
    if (!(error instanceof ConversionKilled)) throw error;
    try {
      await convert();
    } catch (again) {
      throw again instanceof ConversionKilled ? overloaded(again) : again;
    }
  }
}

function overloaded(cause: ConversionKilled): VerbatimError {
  const message =
    'The program that converts the file was killed twice, as happens where memory is short. Try again later.';
  return new VerbatimError('overloaded', message, { retryAfterSeconds: RETRY_SECONDS, cause });
}

/** ffmpeg would make one that everybody may read. */
async function makePrivateFile(path: string): Promise<void> {
  await removeFile(path);
  await writeFile(path, '', { flag: 'wx', mode: 0o600 });
}
