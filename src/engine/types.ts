/** What the services ask of the engine. The Transcriber implements SpeechEngine; tests of the shell may fake it. */
import type { Segment, SpeechAbilities, WindowResult } from './binding.js';
import type { FileToDiarize } from './speakers/speaker-engine.js';
import type { SpeakerTurn } from './speakers/speaker-turn.js';

/** Which request work is of: what it is called in the log, and how its file is known again. */
export interface WorkOrigin {
  requestId: string;
  /** Of the file as it was sent, hexadecimal; null: nobody knows. */
  sha256: string | null;
}

export interface AudioToMeasure {
  path: string;
  /** Whose turns it takes. */
  accountId: string;
  origin?: WorkOrigin | undefined;
  signal?: AbortSignal | undefined;
  /** Audio longer than this is refused as soon as that much of it is counted; default: none is. */
  maxSeconds?: number;
  /**
   * Asked before and while the file is measured whether this much audio may be worked on, in seconds counted so far.
   * What it throws refuses the file.
   */
  covers?: (countedSeconds: number) => void;
}

export interface FileToConvert extends AudioToMeasure {
  /** Where the new file goes; one that is there already is removed first. */
  to: string;
}

export interface FileToTranscribe extends AudioToMeasure {
  /** ISO 639-1, or 'auto'. */
  language: string;
  task?: 'transcribe' | 'translate';
  /** Whether the segments get their words, with times; default: no. Only where the engine alignsWords. */
  align?: boolean;
  /** Whether the segments tell what they were decoded to, and how; default: no. */
  describe?: boolean;
  /** Of the first pass over a window, from 0 to 1; default 0: the likeliest text, others only where that one fails. */
  temperature?: number;
  /**
   * Names and words to expect, told to the model before every window: a thousand characters at most, of which the last
   * 223 tokens count. Windows are decoded side by side, so none is told what another said. Absent, or white space: none.
   */
  prompt?: string | undefined;
  /** Awaited before the audio enters the backlog: the place for a hold. What it throws refuses the file. */
  measured?: (durationSeconds: number) => void | Promise<void>;
  /** Told as windows are done how many seconds of the file lie behind, silence included. */
  transcribed?: (seconds: number) => void;
  /**
   * Told of the transcript while it is made, part by part in the order of the file: joined, their texts are the transcript's.
   * Called as soon as nothing can change the part, and never waited for; what it throws fails the request.
   */
  heard?: ((part: HeardPart) => void) | undefined;
  /**
   * The transcript of an earlier pass over the same file, whose duration is taken instead of measuring once more. The
   * backlog has let this request in before, and does not refuse it now: finished work is not thrown away.
   */
  after?: Pick<Transcript, 'durationSeconds'>;
  /**
   * Takes its turns behind the account's other requests, and takes no room of theirs in the backlog, which lets it in whatever it
   * holds: whoever asks for this bounds how many such files there are. Default: no.
   */
  background?: boolean | undefined;
  /** Told of every window, by its number in the file, when it is transcribed for the first time. */
  finished?: ((index: number, result: WindowResult) => void) | undefined;
  /** What `finished` was told of this file before, with the same options: these windows are cut, and not transcribed again. */
  known?: ReadonlyMap<number, WindowResult> | undefined;
}

export interface HeardPart {
  /** The transcript's; of Whisper's translate task the spoken one. */
  language: string;
  /** With the space that parts it from what came before. */
  text: string;
  /** With text, at least one. */
  segments: Segment[];
}

export interface TranscriptTimings {
  /** From admission to the first window's start. */
  queueMs: number;
  /** Reading the file, summed: measuring it, decoding its audio, cutting windows. */
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
  /** Windows whose text was left out, since the model was less sure of it than its traits ask for. */
  unsureWindows: number;
  timings: TranscriptTimings;
}

/** A sentence of a text, and what it became. */
export interface TranslatedSentence {
  /** Where it stands in the text that was translated, in UTF-16 units: from `start` up to `end`. */
  start: number;
  end: number;
  text: string;
}

/** A sentence with what it adds to the text. */
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

/** What an account has in the backlog. */
export interface AccountBacklog {
  accountId: string;
  requests: number;
  /** Not yet transcribed, but for what is done in the background. */
  seconds: number;
  /** Of what is done in the background. */
  backgroundSeconds: number;
}

export interface EngineStats {
  /** What computes at once: a window each on whisper.cpp, a unit of work each where windows are decoded together. */
  slots: number;
  busySlots: number;
  /** Windows begun and not finished. */
  windowsInFlight: number;
  /** Windows that are not begun. */
  queuedWindows: number;
  /** Seconds of admitted audio not yet transcribed, but for what is done in the background. */
  backlogSeconds: number;
  maxBacklogSeconds: number;
  /** Processing seconds of the whole box per second of audio, measured. */
  realTimeFactor: number;
  /** Whole seconds until the backlog is worked off at that speed, at least 1. */
  retryAfterSeconds: number;
  /** Of the twenty accounts with most of it, those with the most seconds first. */
  backlogByAccount: readonly AccountBacklog[];
}

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

export type EngineAbilities = Readonly<Omit<SpeechAbilities, 'translates'>>;

export interface SpeechEngine {
  readonly languages: readonly string[];
  /** Whether the model's own translate task is any good: speech of its languages into English text. */
  readonly translatesToEnglish: boolean;
  /**
   * What else it can be asked for. Nothing is to be detected of a model of one language; where the model does not tell, the text it
   * wrote does.
   */
  readonly abilities: EngineAbilities;
  /** Whether what decodes can say when each word was said; without, FileToTranscribe.align is refused. */
  readonly alignsWords: boolean;
  readonly devices: { readonly ids: readonly string[]; readonly name: string };
  readonly modelName: string;
  /** What finds speech: a model of voice activity, or the energy of the signal. */
  readonly voiceActivity: 'silero' | 'energy';
  /** Shows that the service works, and knows no real recordings. */
  readonly isDemonstration: boolean;
  /**
   * The one way in: measures the file, asks `measured`, takes the audio into the backlog, transcribes it. Whatever the
   * outcome, nothing of it stays open or queued.
   *
   * Rejects with signal.reason when aborted (the slots are freed at once), with what `covers` and `measured` threw, with
   * the addon's error as an EngineError, else with VerbatimError: `unsupported_language`; `audio_too_long` as soon as it
   * is known to be longer than `maxSeconds`; `overloaded` when the backlog has no room for the account, with the seconds after which it will;
   * `shutting_down` after close().
   */
  transcribeFile(file: FileToTranscribe): Promise<Transcript>;
  /**
   * For a file that only ffmpeg reads, before anything else is asked about it: makes one of its first audio track that is read
   * here, and resolves to the time that took; to null where it is not needed, and nothing is made. Rejects as measureFile() does,
   * or as files are written; then the new file is gone, and in any case whatever worked on it.
   */
  convertFile(file: FileToConvert): Promise<{ milliseconds: number } | null>;
  /** The duration in seconds. Rejects as transcribeFile() does before the audio enters the backlog; nothing stays open. */
  measureFile(file: AudioToMeasure): Promise<number>;
  /** Throws `overloaded` when there is no room for even the shortest audio of the account: before it is received. */
  checkRoom(accountId: string): void;
  stats(): EngineStats;
  /** Frees slots and model; resolves when nothing runs any more. */
  close(): Promise<void>;
}

/** Tells who speaks when; the FairDiarizer implements it. */
export interface Diarizer {
  /** Whether it can tell apart who speaks this language (ISO 639-1). */
  serves(language: string): boolean;
  /**
   * Turns by their start, of S1, S2, … by first speech. Accounts take turns, and what is done in the background waits for the rest of its
   * account. Rejects with the signal's reason when aborted, else as
   * SpeakerEngine.diarize() does.
   */
  diarize(file: FileToDiarize & { accountId: string; background?: boolean }): Promise<SpeakerTurn[]>;
  /** Files. */
  stats(): { waiting: number; running: number };
}

/** In place of a Diarizer: why there is none, and what to do, in a sentence. */
export interface NoDiarizer {
  unavailable: string;
}
