/** What the services ask of the engine. The Transcriber implements SpeechEngine; tests of the shell may fake it. */
import type { AudioInfo, Segment } from './binding.js';

/** An audio file that is open, decodable, and of known exact duration. */
export interface OpenAudio {
  readonly info: AudioInfo;
  readonly durationSeconds: number;
  /** Idempotent. */
  close(): void;
}

/** A place in the backlog. Releasing it is idempotent. */
export interface Admission {
  readonly accountId: string;
  readonly audioSeconds: number;
  release(): void;
}

export interface TranscribeInput {
  audio: OpenAudio;
  admission: Admission;
  /** ISO 639-1, or 'auto'. */
  language: string;
  task?: 'transcribe' | 'translate';
  signal?: AbortSignal;
}

export interface TranscriptTimings {
  /** From admission to the first window's start. */
  queueMs: number;
  /** Decoding and cutting the audio, summed. */
  decodeMs: number;
  /** First window's start to last window's end. */
  speechMs: number;
  /** Summed over windows: time in slots. */
  inferenceMs: number;
}

export interface Transcript {
  language: string;
  languageProbability: number | null;
  text: string;
  segments: Segment[];
  timings: TranscriptTimings;
}

export interface EngineStats {
  slots: number;
  busySlots: number;
  queuedWindows: number;
  /** Seconds of admitted audio not yet transcribed. */
  backlogSeconds: number;
  maxBacklogSeconds: number;
  /** Processing seconds of the whole box per second of audio, measured; what Retry-After is computed from. */
  realTimeFactor: number;
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
}

export interface SpeechEngine {
  readonly languages: readonly string[];
  /** Whether the model's own translate task is any good: speech of its languages into English text. */
  readonly translatesToEnglish: boolean;
  readonly device: { readonly ids: readonly string[]; readonly name: string };
  readonly modelName: string;
  /**
   * Opens and measures. Rejects with VerbatimError `unsupported_audio_format`, `invalid_audio`; `audio_too_long` as soon as
   * it is known to be longer than `maxSeconds`; with signal.reason when aborted.
   */
  open(path: string, signal?: AbortSignal, maxSeconds?: number): Promise<OpenAudio>;
  /** Takes the audio into the backlog, or throws VerbatimError `overloaded` with retryAfterSeconds at once. */
  admit(input: { accountId: string; audioSeconds: number }): Admission;
  /** Rejects with signal.reason when aborted (the slots are freed at once), with VerbatimError otherwise. */
  transcribe(input: TranscribeInput): Promise<Transcript>;
  stats(): EngineStats;
  /** Frees slots and model; resolves when nothing runs any more. */
  close(): Promise<void>;
}
