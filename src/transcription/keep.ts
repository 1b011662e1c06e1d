/** Keeping a transcript behind its answer: what to keep, and who does it. */
import type { TranscriptSource } from '../ledger/transcripts.js';
import { wantsSegments, wantsWords, type TranscriptionOptions } from './options.js';
import type { TranscriptionResult } from './result.js';
import type { Warning } from './warnings.js';

/** Of one transcript, decided before the work. */
export interface KeepOrder {
  /** Whole days; null: until it is deleted. */
  keepDays: number | null;
  /** Whether the recording is kept beside the text. */
  keepsAudio: boolean;
  /** For people; null: the first words do. */
  title: string | null;
  source: { kind: TranscriptSource; /** Of the API key; null: there is none to show. */ name: string | null };
}

/** All that there is to keep of a finished transcription. */
export type TranscriptToKeep = Pick<
  TranscriptionResult,
  'id' | 'durationSeconds' | 'language' | 'text' | 'segments' | 'words' | 'translation' | 'model'
>;

export interface KeepRequest {
  accountId: string;
  order: KeepOrder;
  transcript: TranscriptToKeep;
  /** The path of the recording; null: there is none. It is moved away where it is kept. */
  audio: string | null;
}

/** Keeps it, once it is paid for. False: it could not be kept. Never rejects. */
export type KeepNow = () => Promise<boolean>;

export interface TranscriptKeeper {
  /** Before the charge; nothing is stored. null: the account has no room for it, or it cannot be found out. */
  prepare(request: KeepRequest): Promise<KeepNow | null>;
}

/** What is kept has words with their times, whatever the answer has. */
export function optionsToKeep(options: TranscriptionOptions): TranscriptionOptions {
  return { ...options, format: 'json', timestamps: 'word' };
}

type Timed = Pick<TranscriptionResult, 'segments' | 'words' | 'translation'>;

/** The same without what the options do not ask for. */
export function asAsked<T extends Timed>(result: T, options: TranscriptionOptions): T {
  const { segments, words, translation } = result;
  const isTimed = wantsSegments(options);
  return {
    ...result,
    segments: isTimed ? segments : null,
    words: wantsWords(options) ? words : null,
    translation: translation && { ...translation, segments: isTimed ? translation.segments : null },
  };
}

export const NOT_KEPT: Warning = {
  code: 'not_kept',
  message:
    'The transcript is complete, but it was not kept: the account has no room left for kept transcripts, or they ' +
    'could not be written. Delete some that you no longer need.',
};
