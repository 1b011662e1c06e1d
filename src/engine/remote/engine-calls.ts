/** What the process of the engine is asked for, and what it reports. */
import type { WindowResult } from '../binding.js';
import type { Plain } from '../process/messages.js';
import type { TranslationObserver } from '../translation/translation-scheduler.js';
import type {
  AudioBudget,
  EngineLoad,
  EngineObserver,
  FileToTranscribe,
  Transcript,
  TranslatedPart,
  TranslatedText,
  WindowUpdate,
} from '../types.js';

export interface FileRequest extends AudioBudget {
  path: string;
  accountId: string;
}

export type TranscriptionCall = Omit<FileToTranscribe, 'origin' | 'signal' | 'isStreamed' | 'resumeFrom'> & {
  resumeFrom: [index: number, result: WindowResult][];
};

export interface TextCall {
  accountId: string;
  text: string;
  from: string;
  to: string;
  background: boolean;
  reportsParts: boolean;
}

/**
 * What was not sent before: a transcript of hours comes window by window, since nobody else is served while a message
 * is read.
 */
export type TranscriptEnd = Omit<Transcript, 'text' | 'segments'> & {
  /** The update that it ended with; null: all were sent. A repeat needs no window of it. */
  last: Omit<WindowUpdate, 'finished'> | null;
};

export type EngineCalls = Plain<{
  convert: {
    request: FileRequest & { to: string; head: string | undefined };
    progress: never;
    answer: boolean;
  };
  measure: { request: FileRequest; progress: never; answer: number };
  transcribe: { request: TranscriptionCall; progress: WindowUpdate; answer: TranscriptEnd };
  translate: { request: TextCall; progress: TranslatedPart; answer: TranslatedText };
}>;

export type Measurement =
  | { kind: 'window'; measured: Parameters<EngineObserver['windowDone']>[0] }
  | { kind: 'batch'; measured: Parameters<NonNullable<EngineObserver['batchAdvanced']>>[0] }
  | { kind: 'translation'; measured: Parameters<TranslationObserver['batchDone']>[0] };

export type EngineNotice = Plain<{
  /** So many lanes at most work from now on; null: all of them may. */
  lanes: number | null;
  /** Translation models that nobody uses are to be unloaded. */
  unloadsText: boolean;
  /** Counts the notices of an engine. */
  turn: number;
}>;

/** Sent again and again. */
export type EngineReport = Plain<{
  load: EngineLoad;
  /** Since the last one. */
  measurements: Measurement[];
  /** Of a notice that is heeded: no more lanes work than it allows, what is to be unloaded is; absent: as before. */
  heeded?: EngineNotice['turn'];
}>;
