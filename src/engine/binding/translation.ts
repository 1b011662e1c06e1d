/** Models of translation, below sentences and languages. */
import type { NativeCallOptions } from './decoding.js';

export type TranslationBackend = 'auto' | 'ggml' | 'ctranslate2';

export interface TranslationModelOptions {
  /** An id of devices(). */
  device: string;
  /**
   * The type that the weights are computed in, whatever type the file has. 'auto' (default): the file's own. 'float16'
   * is for GPUs: on the CPU it is refused, and 'auto' turns a file in float16 into float32.
   */
  computeType?: 'auto' | 'float32' | 'float16' | 'bfloat16' | 'int8';
  /** 'auto' (default): ggml, which is the faster one. */
  backend?: TranslationBackend;
}

export interface TranslationModelInfo {
  backend: 'ggml' | 'ctranslate2';
  device: string;
  computeType: string;
  memoryBytes: number;
  sourceVocabulary: number;
  targetVocabulary: number;
  unkToken: string;
  bosToken: string;
  eosToken: string;
  /** null: the first token of each target prefix starts the decoder. */
  decoderStartToken: string | null;
  /** The model adds these to every source itself. */
  addsSourceBos: boolean;
  addsSourceEos: boolean;
  /** The caller puts the end token behind every source. */
  wantsSourceEos: boolean;
  /** Whether SentencePiece models lie beside the weights. */
  hasTokenizer: boolean;
  /** Positions of the weights, special tokens included; 0 = no limit. */
  maxSourceTokens: number;
  maxTargetTokens: number;
}

/** One sentence, below the tokenizer. */
export interface TranslationInput {
  source: string[];
  /** Tokens that the translation begins with, e.g. a language token. */
  targetPrefix?: string[];
}

/** Meanings, ranges and defaults are CTranslate2's; see native/engine/translation/options.h. */
export interface TranslationOptions {
  /** 1 = greedy; default 4. */
  beamSize?: number;
  /** Returned per sentence, best first. */
  hypotheses?: number;
  patience?: number;
  lengthPenalty?: number;
  coveragePenalty?: number;
  repetitionPenalty?: number;
  noRepeatNgramSize?: number;
  disableUnk?: boolean;
  replaceUnknowns?: boolean;
  /** Longer sources are cut; 0 = no limit. */
  maxInputLength?: number;
  maxDecodingLength?: number;
  minDecodingLength?: number;
  /** Sentences decoded together. */
  maxBatchSize?: number;
}

export interface TranslationHypothesis {
  /** The target prefix included. */
  tokens: string[];
  score: number;
}

export interface TranslationBatch {
  /** Per input, best first. */
  results: TranslationHypothesis[][];
  timings: { encodeMs: number; totalMs: number; tokensIn: number; tokensOut: number };
}

export interface Translator {
  /** Runs one batch; a translator runs one call at a time. Aborting rejects with `aborted` and leaves it usable. */
  translate(
    inputs: readonly TranslationInput[],
    options: TranslationOptions,
    call?: NativeCallOptions,
  ): Promise<TranslationBatch>;
  close(): void;
}

export interface TranslationModel {
  readonly info: TranslationModelInfo;
  createTranslator(options: { threads: number }): Promise<Translator>;
  /** Texts to SentencePiece tokens and back; special and language tokens are the caller's. */
  tokenize(texts: readonly string[]): Promise<string[][]>;
  detokenize(tokens: readonly (readonly string[])[]): Promise<string[]>;
  hasSourceToken(token: string): boolean;
  hasTargetToken(token: string): boolean;
  /** Frees the weights once the last translator is closed. */
  close(): void;
}
