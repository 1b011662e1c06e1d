/** What happens in a live session. Times are in seconds of received audio, from the start of the session. */
import type { Segment } from '../engine/binding.js';
import type { LiveTurn } from '../engine/types.js';
import type { VerbatimError } from '../errors.js';

/** An utterance of the session; they are counted from 0. */
interface OfUtterance {
  utterance: number;
}

/** What a stretch of an utterance says behind the final text of that stretch. */
interface Decoded extends OfUtterance {
  startSeconds: number;
  endSeconds: number;
  /** Without spaces at its ends; '' where nothing was recognised. */
  text: string;
  /** With words where the session asks for them. */
  segments: Segment[];
  /** ISO 639-1. */
  language: string;
  /** Whether the text goes on with the last word of the final result before it: no space is between. */
  continuesWord: boolean;
}

export interface SpeechStarted extends OfUtterance {
  type: 'speech_started';
  /** Prefix padding included. */
  atSeconds: number;
  /** Speech was found; otherwise all audio since the last utterance is one. */
  isDetected: boolean;
}

export interface SpeechStopped extends OfUtterance {
  type: 'speech_stopped';
  /** The silence that ended it included. */
  atSeconds: number;
  speechEndSeconds: number;
}

/** The utterance so far behind its final text, which a later result may contradict. */
export interface PartialResult extends Decoded {
  type: 'partial';
}

/** Text that never changes again. The stretches of an utterance follow one another. */
export interface FinalResult extends Decoded {
  type: 'final';
  /**
   * Why it ends: a pause, or the client. Or the length that the model takes, or that decodings agree on it
   * (LiveSettings.stableSeconds); then the utterance goes on.
   */
  endedBy: 'silence' | 'client' | 'length' | 'agreement';
  /** Of the session's speakers, with times of the session. Absent: nobody asked, or it could not be found out. */
  turns?: readonly LiveTurn[];
}

/** A stretch whose text could not be had. The session goes on. */
export interface FailedResult extends Pick<
  FinalResult,
  'utterance' | 'startSeconds' | 'endSeconds' | 'endedBy' | 'continuesWord'
> {
  type: 'failed';
  error: VerbatimError;
}

/** A sentence of final text in another language. It comes behind the result, and behind the sentences before it. */
export interface TranslatedResult extends OfUtterance {
  type: 'translated';
  startSeconds: number;
  endSeconds: number;
  text: string;
  /** ISO 639-1: of the text, and of the speech. */
  language: string;
  spokenLanguage: string;
}

/** Final text that could not be translated. The session goes on. */
export interface FailedTranslation extends Pick<TranslatedResult, 'utterance' | 'startSeconds' | 'endSeconds'> {
  type: 'translation_failed';
  error: VerbatimError;
}

/** So much audio was worked on. */
export interface Progress {
  type: 'progress';
  seconds: number;
}

/** The client ended an utterance, and there was none. It comes behind the results of all audio before. */
export interface NoUtterance {
  type: 'no_utterance';
  /** Where the client ended it. */
  atSeconds: number;
}

/** The client abandoned the running utterance, if there was one: of it nothing more is reported. */
export interface Cleared {
  type: 'cleared';
}

export type SessionEvent =
  | NoUtterance
  | Cleared
  | SpeechStarted
  | SpeechStopped
  | PartialResult
  | FinalResult
  | FailedResult
  | TranslatedResult
  | FailedTranslation
  | Progress;

/** How a session ended. */
export type SessionEnd =
  /** All its input was worked on. */
  | { how: 'finished' }
  /** The client left. */
  | { how: 'left' }
  /** The balance, the key, the server or the longest duration; results of what was received before were sent. */
  | { how: 'refused'; error: VerbatimError };
