/** The calls of the engine's process, and its reports. */
import type { WindowResult } from '../binding.js';
import type { Plain } from '../process/messages.js';
import type { TranslationObserver } from '../translation/translation-scheduler.js';
import type {
  AudioBudget,
  EngineLoad,
  EngineObserver,
  FileToTranscribe,
  RecognisedUtterance,
  Transcript,
  TranslatedPart,
  TranslatedText,
  UtteranceToRecognise,
  WindowUpdate,
} from '../types.js';

export interface FileRequest extends AudioBudget {
  path: string;
  accountId: string;
}

export type TranscriptionCall = Omit<FileToTranscribe, 'origin' | 'signal' | 'isStreamed' | 'resumeFrom'> & {
  resumeFrom: [index: number, result: WindowResult][];
};

export type UtteranceCall = Omit<UtteranceToRecognise, 'origin' | 'signal' | 'samples'> & {
  /** In base64: 16 bits a sample, the low byte first. */
  samples: string;
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
 * The part of the transcript that was not sent before. A long transcript is sent window by window, because nobody else
 * is served while a message is read.
 */
export type TranscriptEnd = Omit<Transcript, 'text' | 'segments'> & {
  /** The last update. null: all updates were sent. A repeat needs none of its windows. */
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
  recognise: { request: UtteranceCall; progress: never; answer: RecognisedUtterance };
  translate: { request: TextCall; progress: TranslatedPart; answer: TranslatedText };
}>;

export type Measurement =
  | { kind: 'window'; measured: Parameters<EngineObserver['windowDone']>[0] }
  | { kind: 'batch'; measured: Parameters<NonNullable<EngineObserver['batchAdvanced']>>[0] }
  | { kind: 'translation'; measured: Parameters<TranslationObserver['batchDone']>[0] };

export type EngineNotice = Plain<{
  /** The most lanes that may work from now on. null: all lanes. */
  lanes: number | null;
  /** Whether to unload translation models that nobody uses. */
  unloadsText: boolean;
  /** The notice's number; each engine counts its own. */
  turn: number;
}>;

/** Sent repeatedly. */
export type EngineReport = Plain<{
  load: EngineLoad;
  /** Measurements since the last report. */
  measurements: Measurement[];
  /**
   * The number of the notice that is now in effect: no more lanes work than it allows, and models were unloaded.
   * Absent: no change.
   */
  heeded?: EngineNotice['turn'];
}>;
