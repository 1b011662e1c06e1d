/** What the process of the engine is asked for, and what it tells. */
import type { WindowResult } from '../binding.js';
import type { NotPlain } from '../process/frames.js';
import type { TranslationObserver } from '../translation/translation-scheduler.js';
import type {
  EngineObserver,
  EngineStats,
  FileToTranscribe,
  HeardPart,
  SpeechEngine,
  Transcript,
  TranslatedPart,
  TranslatedText,
} from '../types.js';

export interface FileRequest {
  path: string;
  accountId: string;
  maxSeconds: number | undefined;
  /** Whether the seconds are told that are counted while it is measured. */
  counts: boolean;
}

export type TranscriptionAsked = Omit<FileRequest, 'maxSeconds'> &
  Pick<
    FileToTranscribe,
    'language' | 'task' | 'align' | 'describe' | 'temperature' | 'prompt' | 'background'
  > & {
    maxSeconds: number | undefined;
    /** Of a file that is measured and let in already. */
    durationSeconds: number | null;
    known: [index: number, result: WindowResult][];
  };

export interface TextCall {
  accountId: string;
  text: string;
  from: string;
  to: string;
  background: boolean;
  tells: boolean;
}

export interface CountedSeconds {
  kind: 'counted';
  seconds: number;
}

export type TranscriptionNews =
  | CountedSeconds
  /** Waits until it may go on. */
  | { kind: 'measured'; seconds: number }
  | ({ kind: 'window' } & WindowNews);

/** What came of a window's end, in one message: of each sort one at most, so that no message grows with the file. */
export interface WindowNews {
  finished?: { index: number; result: WindowResult };
  transcribedSeconds?: number;
  /** What is final now, of that window or of an earlier one. */
  heard?: HeardPart;
}

/** What is not told before: a transcript of hours comes window by window, since nobody else is served while a message is read. */
export type TranscriptEnd = Omit<Transcript, 'text' | 'segments'> & {
  /** Of the windows that it ended with; null: all is told. */
  last: Omit<WindowNews, 'finished'> | null;
};

export type HeardProgress = { kind: 'heard' } & HeardPart;

export type EngineCalls = {
  convert: {
    request: FileRequest & { to: string };
    progress: CountedSeconds;
    answer: { milliseconds: number } | null;
  };
  measure: { request: FileRequest; progress: CountedSeconds; answer: number };
  transcribe: { request: TranscriptionAsked; progress: TranscriptionNews; answer: TranscriptEnd };
  translate: { request: TextCall; progress: TranslatedPart; answer: TranslatedText };
};

/** What it is, told when it is ready. */
export type EngineInfo = Pick<
  SpeechEngine,
  | 'languages'
  | 'translatesToEnglish'
  | 'abilities'
  | 'alignsWords'
  | 'devices'
  | 'modelName'
  | 'voiceActivity'
  | 'isDemonstration'
>;

export type EngineLoad = Omit<
  EngineStats,
  'backlogSeconds' | 'maxBacklogSeconds' | 'retryAfterSeconds' | 'backlogByAccount'
>;

export type Measurement =
  | { kind: 'window'; measured: Parameters<EngineObserver['windowDone']>[0] }
  | { kind: 'batch'; measured: Parameters<NonNullable<EngineObserver['batchAdvanced']>>[0] }
  | { kind: 'translation'; measured: Parameters<TranslationObserver['batchDone']>[0] };

/** Told again and again. */
export interface EngineReport {
  load: EngineLoad;
  /** Since the last one. */
  measurements: Measurement[];
}

/** Told with every answer to a ping. */
export interface EngineHealth {
  /** The native call that is at work for longer than it may; null: none is. */
  overdue: string | null;
}

/** How all of it is written: by its types there is nothing in it that JSON would lose. */
export const ENGINE_FORM: [NotPlain<EngineCalls | EngineReport | EngineHealth>] extends [never]
  ? 'json'
  : 'clone' = 'json';
