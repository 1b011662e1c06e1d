import type { AudioWindow, VoiceActivityModel } from './audio.js';

/** How a live signal is split into utterances. Times are of received audio. */
export interface LiveOptions {
  /**
   * Speech is what is at least so likely, 0 to 1 (0.5); values below 0.05 or above 0.95 count as these. Without a voice
   * activity model the scale is the level: 0 is 3 dB above the noise floor, 1 is 15 dB above it.
   */
  threshold?: number;
  /** Audio before speech that belongs to its utterance, milliseconds: 0 to 5,000 (300). */
  prefixPaddingMs?: number;
  /** The silence that ends an utterance, milliseconds: 100 to 60,000 (500). */
  silenceMs?: number;
  /** The silence that is reported as a pause of an utterance, milliseconds, up to 60,000; 0 (the default): none. */
  pauseMs?: number;
  /** False: utterances follow one another without a gap, and only endUtterance ends one. The default is true. */
  detect?: boolean;
  /** The longest piece of an utterance, seconds: 1 to 30 (30). A longer utterance is cut ... */
  longestSeconds?: number;
  /** ... at the quietest place in the last seconds of the piece: above 0, up to longestSeconds (5). */
  searchSeconds?: number;
}

export interface LiveAudioOptions extends LiveOptions {
  /** Integers of 16 bits, floats of 32 bits (both little-endian), or G.711. */
  encoding: 's16le' | 'f32le' | 'mulaw' | 'alaw';
  /** Hz, 8,000 to 48,000. */
  sampleRate: number;
  /** 1 to 32; they are mixed. */
  channels: number;
  /** Detects speech; without it, everything that rises above the noise floor is speech. */
  voice?: VoiceActivityModel;
}

/** What has happened in a live signal. Positions are in samples at 16 kHz from the start of the signal. */
export type LiveEvent =
  /** An utterance begins at `at`: the prefix padding is included, but nothing of the utterance before. */
  | { type: 'speech_started'; at: number }
  /** The silence in an utterance, since `speechEnd`, has become a pause. Reported once for each silence. */
  | { type: 'pause'; at: number; speechEnd: number }
  /** The utterance was too long: its audio up to `at` is complete, and it goes on from there. */
  | { type: 'cut'; at: number }
  /**
   * The utterance has ended at `at`; its last speech ended at `speechEnd`. If that is at or before the last cut,
   * nothing was spoken since. Without detection both are the same.
   */
  | { type: 'speech_stopped'; at: number; speechEnd: number };

/**
 * Samples of one signal that arrive piece by piece: resampled to 16 kHz as files are, split into utterances, and kept
 * until they are discarded. The result does not depend on how the bytes are split into pieces. Decisions are made for
 * chunks of 32 ms, as soon as a chunk has arrived.
 *
 * Samples of utterances are kept until discardBefore. Silence since the last utterance is dropped except for what the
 * next one may begin with. Of more than two minutes the oldest samples are dropped.
 *
 * Every call while a push runs is refused, except close and the getters, whose values are as of the last finished call.
 */
export interface LiveAudio {
  /**
   * Appends bytes: at most 10 seconds of audio, which takes some 20 ms of work. A frame may be split between two calls;
   * at the end of the signal an incomplete one is ignored. Floats that are not finite become 0.
   */
  push(bytes: Uint8Array): Promise<LiveEvent[]>;
  /** The same at once, on the calling thread: for pieces whose work is shorter than the way to a worker and back. */
  pushNow(bytes: Uint8Array): LiveEvent[];
  /**
   * Ends the utterance now, for a commit, a flush or the end of the signal: all audio that was pushed is in it, and the
   * last event is speech_stopped. No events if there is no utterance: no speech of at least 60 ms was detected since
   * the last one, or, without detection, there is no audio.
   */
  endUtterance(): LiveEvent[];
  /** Abandons the utterance: no event ends it, its samples are dropped, and the next one begins here or later. */
  clear(): void;
  /** In force from here on. An option that is absent stays as it is. */
  configure(options: LiveOptions): void;
  /** A copy of the samples in [begin, end), which must be kept; mono at 16 kHz. */
  samples(begin: number, end: number): Float32Array;
  /** Samples before this position are not needed any more. */
  discardBefore(position: number): void;
  /**
   * The samples so far. At a rate other than 16 kHz the resampler holds back up to 50 ms, below 16 kHz up to 120 ms.
   * Events do not wait for it: the start of an utterance may lie behind the position. The samples before a pause, a cut
   * and an end are there with the event.
   */
  readonly position: number;
  /**
   * Where the utterance that goes on begins, or its part behind the last cut. null if there is none; without detection
   * there always is one.
   */
  readonly utteranceBegin: number | null;
  /** The oldest sample that is kept. */
  readonly keptFrom: number;
  /** Native memory, about. */
  readonly memoryBytes: number;
  close(): void;
}

/** The part of the addon for live signals. */
export interface LiveBinding {
  /** Throws a NativeError that names the option which is wrong or out of range. */
  openLiveAudio(options: LiveAudioOptions): LiveAudio;
  /**
   * A window of samples, mono at 16 kHz: 1 to 480,000 (30 s). `startSample`: the place of the first one on the time
   * line, 0 if absent. What of it is speech is unknown.
   */
  createWindow(samples: Float32Array, startSample?: number): AudioWindow;
}
