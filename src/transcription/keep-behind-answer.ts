/** A transcript that is kept behind its answer: made with all that is kept, charged, and then kept. */
import type { Bill } from './billing.js';
import { asAsked, NOT_KEPT, optionsToKeep, type KeepNow, type KeepOrder, type TranscriptKeeper } from './keep.js';
import type { TranscriptionOptions } from './options.js';
import type { TranscriptionResult } from './result.js';

export interface KeepableOrder {
  accountId: string;
  options: TranscriptionOptions;
  /** null or absent: it is not kept. */
  keep?: KeepOrder | null;
  audio: { path: string };
}

export interface KeepableBill extends Bill {
  /** To be called once the bill is paid; null: the transcript is not kept. */
  keepNow: KeepNow | null;
  /** Whether it takes the recording, which has to be there until then. */
  keepsAudio: boolean;
}

/** Those that the work is done with. */
export function workOptions({ options, keep }: Pick<KeepableOrder, 'options' | 'keep'>): TranscriptionOptions {
  return keep ? optionsToKeep(options) : options;
}

/** The bill of the answer as it was asked for, made of work with workOptions(). */
export async function prepareKeeping(
  keeper: TranscriptKeeper,
  { accountId, audio, options, keep }: KeepableOrder,
  bill: Bill,
): Promise<KeepableBill> {
  if (!keep) return { ...bill, keepNow: null, keepsAudio: false };
  const { uncharged: transcript } = bill;
  const { keepsAudio } = keep;
  const keepNow = await keeper.prepare({ accountId, order: keep, transcript, audio: keepsAudio ? audio.path : null });
  const uncharged = asAsked(transcript, options);
  if (keepNow !== null) return { ...bill, uncharged, keepNow, keepsAudio };
  return {
    ...bill,
    uncharged: { ...uncharged, warnings: [...uncharged.warnings, NOT_KEPT] },
    keepNow,
    keepsAudio: false,
  };
}

/** The result, with a warning where it could not be kept. */
export async function keepIfPaid<T extends Pick<TranscriptionResult, 'warnings'>>(
  result: T,
  { keepNow }: Pick<KeepableBill, 'keepNow'>,
): Promise<T> {
  if (keepNow === null || (await keepNow())) return result;
  return { ...result, warnings: [...result.warnings, NOT_KEPT] };
}
