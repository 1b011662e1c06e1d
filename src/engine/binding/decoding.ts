/** How a window is decoded, and the result. */

export interface TextPrefix {
  /** The segments' texts, joined, begin with it. At most 4096 bytes and 200 tokens. */
  text: string;
  /**
   * Of an earlier decoding of the same audio: its segments' `opening` and `tokens` (SegmentDecoding), joined. As far as
   * they spell the text they are taken; the rest of it is split into tokens.
   */
  tokens: readonly number[];
}

export interface DecodeOptions {
  /** ISO 639-1 code, or 'auto' to detect in the same encoder pass. */
  language: string;
  /** With 'auto': the likeliest language so far. A right guess saves a pass over the prompt. */
  languageGuess?: string;
  task?: 'transcribe' | 'translate';
  /** 1 (the service): greedy. `bench engine --beam` uses more. */
  beamSize?: number;
  temperature?: number;
  /**
   * Step of the temperature fall-back; 0: there is none. Only tests of aborts set it and `logProbThreshold`
   * (ENDLESS_WORK in test/native/support.ts): with a tiny step and a threshold that no text reaches, only an abort ends
   * the work on a window.
   */
  temperatureIncrement?: number;
  initialPrompt?: string;
  /** Text that the window's text begins with. Only for models that have the ability `takesPrefix`. */
  prefix?: TextPrefix;
  /** A decoding whose average log-probability is lower is repeated at a higher temperature. */
  logProbThreshold?: number;
  ownLength?: boolean;
  /** Give the times of each word (Segment.words). The text is the same with it and without. */
  align?: boolean;
  /** Say what each segment was decoded to, and how (Segment.decoding). */
  describe?: boolean;
}

export interface Word {
  /** With the space before it, as in the model's text: the words of a segment joined are its text. */
  text: string;
  /** Seconds on the file's time line, within the window; they never decrease, and no two words overlap. */
  startSeconds: number;
  endSeconds: number;
  /** Mean over its tokens as they were decoded, 0 to 1; punctuation that joined it does not count. */
  probability: number;
}

/** How a segment came to be. */
export interface SegmentDecoding {
  /** Where the window begins that it is of, on the file's time line. */
  windowStartSeconds: number;
  /** Id of the time stamp before `tokens` that they do not have; absent: there is none. */
  opening?: number;
  /** Ids of its text and time stamps. */
  tokens: number[];
  /** Mean natural log-probability of these, <= 0, as they were decoded at the temperature. */
  averageLogProbability: number;
  /** Temperature, 0 to 1, of the pass that the text was taken from: the first one or a fall-back. */
  temperature: number;
}

export interface Segment {
  /** Seconds on the file's time line; with words, of the first one's start and of the last one's end. */
  startSeconds: number;
  endSeconds: number;
  text: string;
  noSpeechProbability: number;
  /** Only with `align`. */
  words?: Word[];
  /** Only with `describe`. */
  decoding?: SegmentDecoding;
}

export interface WindowTimings {
  melMs: number;
  encodeMs: number;
  decodeMs: number;
  totalMs: number;
  /** Tokens generated, all fall-back passes included. */
  tokens: number;
  fallbacks: number;
  encoderPasses: number;
}

export interface WindowResult {
  segments: Segment[];
  /** The language the text was decoded in. */
  language: string;
  /** Code -> probability over the model's languages when the language was 'auto', else null. */
  languageProbabilities: Record<string, number> | null;
  /**
   * How sure the model was: the mean natural log-probability, <= 0, of the tokens that segments with text were decoded
   * to. Text and time stamps count; the prompt and the end of text do not. null: no token counts.
   */
  averageLogProbability: number | null;
  /** The tokens that count in averageLogProbability. */
  scoredTokens: number;
  timings: WindowTimings;
}

export interface NativeCallOptions {
  signal?: AbortSignal;
}
