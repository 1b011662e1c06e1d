/** The engine's interface to the services. The Transcriber implements SpeechEngine; tests of the shell may fake it. */
import type { Segment, SpeechAbilities, TextPrefix, WindowResult } from './binding.js';
import type { BacklogStats } from './backlog.js';
import type { FileToDiarize } from './speakers/file-to-diarize.js';
import type { SpeakerTurn } from './speakers/speaker-turn.js';

/** The request that work belongs to. */
export interface WorkOrigin {
  /** As in the log. */
  requestId: string;
  accountId: string;
  /** Whether nobody waits for its answer now: a job. */
  background: boolean;
  /** Of the file as it was sent, hexadecimal; null: nobody knows. */
  sha256: string | null;
}

/** How much audio may be worked on, in seconds; what is longer is refused as soon as that much of it is counted. */
export interface AudioBudget {
  /** The configured limit: over it `audio_too_long`. It alone bounds samples, too. Default: none. */
  maxSeconds?: number | undefined;
  /** The seconds that the account can pay for; more are refused with `insufficient_credits`. Default: no bound. */
  payableSeconds?: number | undefined;
}

/** A file and whose turns it takes. */
export interface AudioRequest {
  path: string;
  accountId: string;
  /** The same object for all calls of a request: crashes of the engine's process are counted by it. */
  origin?: WorkOrigin | undefined;
  signal?: AbortSignal | undefined;
}

export interface FileToMeasure extends AudioRequest, AudioBudget {}

export interface FileToConvert extends FileToMeasure {
  /** The text of the file's FileHead; default: it is read from the disk. */
  head?: string | undefined;
  /** Where the new file goes; one that is there already is removed first. */
  to: string;
}

export interface FileToTranscribe extends AudioRequest {
  /** Of the file, by measure(). */
  seconds: number;
  /** ISO 639-1, or 'auto'. */
  language: string;
  task?: 'transcribe' | 'translate';
  /** Whether the segments get their words, with times; default: no. Only where the engine alignsWords. */
  align?: boolean;
  /** Whether segments say how they were decoded; default: no. */
  describe?: boolean;
  /** Of the first pass over a window, from 0 to 1; default 0: the likeliest text, others only where that one fails. */
  temperature?: number;
  /**
   * Names and words to expect, given to the model before every window. At most a thousand characters; the last 223
   * tokens count. Windows are decoded side by side, so none is given the text of another. Absent, or white space: none.
   */
  prompt?: string | undefined;
  /** Takes its turns behind the account's other requests; default: no. */
  background?: boolean | undefined;
  /**
   * Whether parts are passed on to a client while they come. They cannot be taken back: a repeat after the death of the
   * engine's process must then give the same text, or fails. Default: no.
   */
  isStreamed?: boolean | undefined;
  /**
   * Results that `onWindow` had of this file before, with the same options: these windows are not transcribed again.
   */
  resumeFrom?: ReadonlyMap<number, WindowResult> | undefined;
}

/** Audio of a live session that is transcribed as one window. */
export interface UtteranceToRecognise {
  /** Mono at 16 kHz: one sample at least, and at most as many as the model's longest window has. */
  samples: Int16Array;
  /** Where they begin, in samples at 16 kHz from the start of the session. Times of the result count from there. */
  startSample: number;
  accountId: string;
  /** As AudioRequest.origin. */
  origin?: WorkOrigin | undefined;
  signal?: AbortSignal | undefined;
  /** ISO 639-1, or 'auto'. */
  language: string;
  /** With 'auto': the likeliest one so far. A right guess saves work. */
  languageGuess?: string | undefined;
  /** As FileToTranscribe.prompt. */
  prompt?: string | undefined;
  /** Whether segments get their words, with times; default: no. */
  align?: boolean;
  /** Whether segments say how they were decoded; default: no. */
  describe?: boolean;
  /** Text that the segments' texts begin with. Only where EngineInfo.commits is 'prefix'. */
  prefix?: TextPrefix | undefined;
  /**
   * Milliseconds from now within which it should be done: it goes before the account's files. null: a result that may
   * change, which goes behind due work of other accounts.
   */
  dueInMs: number | null;
}

export interface RecognisedUtterance {
  /** As it was decoded; of a model that detects no language, by its text. */
  language: string;
  /** Code -> probability; null: the language was given, or nothing shows it. */
  languageProbabilities: Readonly<Record<string, number>> | null;
  /** With text. */
  segments: Segment[];
  /** As WindowResult's. */
  averageLogProbability: number | null;
  scoredTokens: number;
  /** The slots' time that it used. */
  workMs: number;
}

/** One window is done, or the text of earlier ones is final. */
export interface WindowUpdate {
  /** A window that was transcribed for the first time, by its number in the file; null: none was. */
  finished: { index: number; result: WindowResult } | null;
  /** How much of the file lies behind, silence included. */
  seconds: number;
  /** The spoken one, once it is decided; null: not yet. */
  language: string | null;
  /**
   * Text that nothing can change any more, in the order of the file; null: none. Joined, all parts are the transcript.
   */
  part: TranscriptPart | null;
}

export type OnWindow = (update: WindowUpdate) => void;

export interface TranscriptPart {
  /** The transcript's; of Whisper's translate task the spoken one. */
  language: string;
  /** With the space before it. */
  text: string;
  /** At least one. */
  segments: Segment[];
}

export interface TranscriptTimings {
  /** From the call to the first window's start. */
  queueMs: number;
  /** Reading the file once it is measured, summed: opening it, decoding its audio, cutting windows. */
  readMs: number;
  /** First window's start to last window's end. */
  speechMs: number;
  /** Summed over windows: from the beginning of its encoding to its text. */
  inferenceMs: number;
}

export interface Transcript {
  /** Of the file. */
  durationSeconds: number;
  language: string;
  languageProbability: number | null;
  text: string;
  segments: Segment[];
  /** Windows that were decoded: stretches in which speech was found. */
  windows: number;
  /** Of these, those whose text was left out, since the model was less sure of it than its traits ask for. */
  unsureWindows: number;
  timings: TranscriptTimings;
}

/** A sentence and its translation. */
export interface TranslatedSentence {
  /** Where it stands in the text that was translated, in UTF-16 units: from `start` up to `end`. */
  start: number;
  end: number;
  text: string;
}

/** A sentence and the text that it adds. */
export interface TranslatedPart {
  /** With what parts it from the sentence before. */
  text: string;
  sentence: TranslatedSentence;
}

export interface TranslatedText {
  text: string;
  /** In order; joined they are the text, spaces aside. */
  sentences: TranslatedSentence[];
}

export interface EngineLoad {
  /** What computes at once: a window each on whisper.cpp, a unit of work each where windows are decoded together. */
  slots: number;
  busySlots: number;
  /** Windows begun and not finished. */
  windowsInFlight: number;
  /** Windows that are not begun. */
  queuedWindows: number;
  /** Processing seconds of the whole box per second of audio, measured. */
  realTimeFactor: number;
}

/** The load of a service: of its engine, and of its backlog. */
export type EngineStats = EngineLoad & BacklogStats;

/** Receives measurements as they happen; metrics.ts implements it. */
export interface EngineObserver {
  windowDone(measurement: {
    queueMs: number;
    inferenceMs: number;
    audioSeconds: number;
    tokens: number;
    fallbacks: number;
    melMs: number;
    encodeMs: number;
    decodeMs: number;
  }): void;
  /** Some steps of the batch that windows are decoded in; `rows`: of all steps together. */
  batchAdvanced?(measurement: { windows: number; steps: number; rows: number; milliseconds: number }): void;
}

export type EngineAbilities = Readonly<Omit<SpeechAbilities, 'translates' | 'takesPrefix' | 'timesWords'>>;

/** Facts about an engine: plain values, which cross a channel as they are. */
export interface EngineInfo {
  readonly languages: readonly string[];
  /** Whether the model's own translate task is any good: speech of its languages into English text. */
  readonly translatesToEnglish: boolean;
  /**
   * Further abilities. `detectsLanguage` is true for a model of one language, too, and where the language is recognised
   * in the model's text.
   */
  readonly abilities: EngineAbilities;
  /** Whether the decoder can give the times of each word; without, FileToTranscribe.align is refused. */
  readonly alignsWords: boolean;
  readonly devices: { readonly ids: readonly string[]; readonly name: string };
  readonly modelName: string;
  /**
   * How text of an utterance that goes on stays in the utterance's later decodings: they take it as a prefix, or the
   * times of their words, which cost nothing, show what follows it. null: not at all, or the model is not loaded.
   */
  readonly commits: 'prefix' | 'words' | null;
  /** What finds speech: a model of voice activity, or the energy of the signal. */
  readonly voiceActivity: 'silero' | 'energy';
  /** Of the longest window. */
  readonly windowSeconds: number;
  /** Text below this confidence is left out; null: none is. See confidentResults(). */
  readonly minAverageLogProbability: number | null;
  /** Shows that the service works, and knows no real recordings. */
  readonly isDemonstration: boolean;
}

/**
 * Every call rejects with signal.reason when it is aborted, and frees what it holds at once. It rejects with the
 * addon's error as an EngineError, else with VerbatimError: `shutting_down` after close(). Nothing of a call stays open
 * or queued, whatever its outcome. The caller decides between measure() and transcribe() whether the audio may be
 * worked on at all.
 */
export interface SpeechEngine {
  readonly info: EngineInfo;
  /**
   * Called first, before measure(). If only ffmpeg reads the file, makes a file of its first audio track that is read
   * here, and resolves to true. Otherwise makes nothing, and resolves to false. Rejects as measure() does, or with the
   * error of writing the file. Then the new file is gone, and so is every process that worked on it.
   */
  convert(file: FileToConvert): Promise<boolean>;
  /** The duration in seconds. Rejects as soon as more is counted than the budget allows. */
  measure(file: FileToMeasure): Promise<number>;
  /**
   * `onWindow` is called for every window when it is done, and must not throw. Rejects with `unsupported_language` for
   * one that the model does not know.
   */
  transcribe(file: FileToTranscribe, onWindow?: OnWindow): Promise<Transcript>;
  /**
   * Transcribes samples as one window. Rejects with `unsupported_language` for a language that the model does not know,
   * and with EngineError `invalid_argument` for no samples, or more than the longest window has.
   */
  recognise(utterance: UtteranceToRecognise): Promise<RecognisedUtterance>;
  stats(): EngineLoad;
  /** Frees slots and model; resolves when nothing runs any more. */
  close(): Promise<void>;
}

/** Finds who speaks when; the FairDiarizer implements it. */
export interface Diarizer {
  /** Whether it can distinguish speakers of this language (ISO 639-1). */
  serves(language: string): boolean;
  /**
   * Turns by their start, of S1, S2, … by first speech. Accounts take turns, and an account's background requests wait
   * for its others. Rejects with the signal's reason when aborted, else as SpeakerEngine.diarize() does.
   */
  diarize(file: FileToDiarize & { accountId: string; background?: boolean }): Promise<SpeakerTurn[]>;
  /** Of one live session, whose stretches go before files. */
  follow(): LiveDiarizer;
  /** Files. */
  stats(): { waiting: number; running: number };
}

/** Finds who speaks in a live session, stretch by stretch. */
export interface LiveDiarizer {
  /**
   * Turns of a stretch, by their start; at least one. Samples: mono at 16 kHz. Stretches are in the order of the calls,
   * and nothing of an earlier one changes. Rejects as Diarizer.diarize() does, and the session may go on.
   */
  turnsIn(samples: Int16Array, signal?: AbortSignal): Promise<LiveTurn[]>;
}

export interface LiveTurn {
  /** From the start of the stretch. */
  startSeconds: number;
  endSeconds: number;
  /** From 0, in the order of their first turns in the session. */
  speaker: number;
}

/** In place of a Diarizer: why there is none, and how to get one, in a sentence. */
export interface NoDiarizer {
  unavailable: string;
}
