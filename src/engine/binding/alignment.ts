/**
 * What `models align` asks of a speech model, to choose the heads that words are aligned by. Nothing that serves
 * requests needs it.
 */
import type { AudioWindow } from './audio.js';
import type { NativeCallOptions } from './decoding.js';
import type { AttentionHead, Recogniser } from './speech-models.js';

export interface DecoderHeads {
  layers: number;
  /** Of a layer. */
  heads: number;
  /** Those that words are aligned by. */
  alignment: readonly AttentionHead[];
}

export interface AlignTextOptions {
  /** The words spoken in the window. */
  text: string;
  /** ISO 639-1 code. */
  language: string;
  ownLength?: boolean;
  /** 1 to 256. */
  threads: number;
  /** One set or more, none of them empty; each shows its own times. */
  headSets: readonly (readonly AttentionHead[])[];
}

export interface TextAlignment {
  /** Joined, they are the text. */
  words: string[];
  /** For each set of heads: when each word begins and ends, on the file's time line. */
  times: { startSeconds: number[]; endSeconds: number[] }[];
}

export interface AlignableRecogniser extends Recogniser {
  readonly decoderHeads: DecoderHeads;
  /**
   * Lays a known text along a window, by each set of heads separately. The times are the attention's own: neither moved
   * to speech nor cut at the ends of sentences. One encoder pass; aborting rejects with `aborted`.
   */
  alignText(window: AudioWindow, options: AlignTextOptions, call?: NativeCallOptions): Promise<TextAlignment>;
}
