/** Audio in the addon: files, how they are cut, and windows. */

export interface AudioInfo {
  container: 'wav' | 'flac' | 'mp3' | 'ogg';
  /** e.g. pcm_s16, pcm_s24, float, alaw, ulaw, flac, mp3, vorbis, opus */
  codec: string;
  /** Hz, as stored in the file. */
  sampleRate: number;
  channels: number;
}

/** How a model wants its audio cut; a trait of the model, from the manifest. All times in seconds. */
export interface WindowPolicy {
  /** Longest window, at most 30. */
  maxSeconds: number;
  /**
   * How speech is cut into windows. 'quietest': windows are filled up to maxSeconds and cut at the quietest place of
   * the last searchSeconds. 'pause': speech is cut at every pause of at least minPauseSeconds, and neighbours are
   * joined up to maxSeconds. Speech that runs on for longer is cut as by 'quietest'.
   */
  cut: 'quietest' | 'pause';
  minPauseSeconds: number;
  searchSeconds: number;
  /** Encode at the window's own length (whisper.cpp's audio_ctx) instead of padding to 30 s. */
  ownLength: boolean;
}

/** A native handle on a window's samples (mono float32 at 16 kHz). */
export interface AudioWindow {
  /** Place on the file's time line, seconds. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** The stretches of the file that it holds, in order: one, or several between which longer silence was left out. */
  readonly pieces: readonly { startSeconds: number; endSeconds: number }[];
  /** What of it is no pause, in order, on the file's time line. */
  readonly speech: readonly { startSeconds: number; endSeconds: number }[];
  /** Frees the samples now instead of at garbage collection; idempotent. */
  release(): void;
}

export interface AudioReader {
  readonly info: AudioInfo;
  /**
   * One step (about 20 ms of work at most) towards the exact duration. Resolves to the duration in seconds once it is
   * known, to null while there is more to scan. Cheap for PCM, a decoding pass for compressed formats.
   */
  measure(): Promise<number | null>;
  /** What measure has counted so far: a lower bound of the duration, to refuse early a file that is too long. */
  readonly measuredSeconds: number;
  /** The same in stored samples, over all channels: the decoding costs that much. */
  readonly measuredSamples: number;
  /**
   * Decodes and cuts the next window that holds speech. null: the end of the file. 'silence': about a minute of audio
   * had no speech; call again. 'reading': the window goes on beyond what one call reads (8 s with a voice activity
   * model, some 20 ms of work); call again. Calls must not overlap.
   */
  nextWindow(): Promise<AudioWindow | 'silence' | 'reading' | null>;
  /** Seconds of the file passed by nextWindow, silence that was dropped included; as of its last answer. */
  readonly positionSeconds: number;
  close(): void;
}

/** Separates speech from everything else. Any number of readers may share it. */
export interface VoiceActivityModel {
  /** Readers that were opened with it keep it until they are closed. */
  close(): void;
}

export interface AudioOptions {
  /** Windows hold what this model detects as speech; without it, all sound above the background. */
  voice?: VoiceActivityModel;
}

/** A file's samples, for who computes on them in JavaScript. */
export interface SampleReader {
  /**
   * The next samples, mono at 16 kHz, at most 160,000 at once; fewer than `count` only at the end, and then none. Calls
   * must not overlap.
   */
  read(count: number): Promise<Float32Array>;
  close(): void;
}
