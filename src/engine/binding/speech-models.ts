/** Models of speech: on whisper.cpp a window in each slot, on the engine's own decoder all windows in one batch. */
import type { AudioWindow } from './audio.js';
import type { DecodeOptions, NativeCallOptions, WindowResult } from './decoding.js';

export interface Slot {
  /** Runs one window; a slot runs one call at a time. Aborting rejects with `aborted` and leaves the slot usable. */
  transcribe(window: AudioWindow, options: DecodeOptions, call?: NativeCallOptions): Promise<WindowResult>;
  close(): void;
}

/** The abilities of a speech model. */
export interface SpeechAbilities {
  /** Detects which of its languages is spoken: the language may be 'auto'. */
  detectsLanguage: boolean;
  /** Knows Whisper's translate task, whether it was trained for it or not. */
  translates: boolean;
  takesPrompt: boolean;
  /** Above 0. */
  takesTemperature: boolean;
  /** DecodeOptions.prefix. */
  takesPrefix: boolean;
  /** Decodes the times of words with the text: DecodeOptions.align costs nothing. */
  timesWords: boolean;
}

export interface SpeechModelInfo {
  /** The kind of architecture. Callers ask for abilities instead. */
  family: 'whisper' | 'parakeet';
  abilities: SpeechAbilities;
  /** The name of the published shape: tiny, base, ..., parakeet-tdt-0.6b; or 'custom'. */
  type: string;
  weightType: string;
  /** None where the file does not say. */
  languages: string[];
  /** An id of devices(). */
  device: string;
  /** Human readable name of the device. */
  deviceName: string;
  memoryBytes: number;
  /** What computes the encoder: '' for whisper.cpp alone, else e.g. 'int8 kernels (avx512)' or 'onednn bfloat16'. */
  accelerator: string;
  /** null without a cache. */
  weightCache: WeightCacheReport | null;
}

/** Of the packed weights of a model. */
export interface WeightCacheReport {
  /** Bytes found in the cache. */
  foundBytes: number;
  /** Bytes of all weights that are shared with other processes. */
  sharedBytes: number;
  writtenBytes: number;
  /** Why a file was not used or not written; null: nothing is wrong. */
  problem: string | null;
}

export interface WeightCacheOptions {
  /** Of this model's packed weights; made if its parent is there. */
  directory: string;
  /** The most bytes that the files there may take. */
  maxBytes: number;
  /** Default false: only where the system has huge pages for files, since small ones make decoding slower. */
  alwaysShared?: boolean;
}

/**
 * What computes the encoder's large products on a CPU. 'off': whisper.cpp. 'float32': oneDNN, where it was built in.
 * 'auto': oneDNN in the fastest type that the processor multiplies, bfloat16 or else float32. Without oneDNN this
 * engine's kernels compute in float32.
 */
export type AcceleratorMode = 'auto' | 'float32' | 'off';

export interface SpeechModelOptions {
  /** An id of devices(). */
  device: string;
  /**
   * Default 'off'. The accelerator keeps a packed copy of the encoder's weights; models with and without it live side
   * by side.
   */
  accelerator?: AcceleratorMode;
  /** Of a Parakeet model on a CPU whose accelerator is not 'off': encoder and transducer. Default, and else: 'auto'. */
  compute?: ComputeType;
  /**
   * As in RecogniserOptions. Words are aligned by the engine's own encoder and decoder, on the CPU; these are loaded
   * with the first window that asks for words.
   */
  alignmentHeads?: readonly AttentionHead[];
}

export interface SpeechModel {
  readonly info: SpeechModelInfo;
  createSlot(options: { threads: number }): Promise<Slot>;
  /** Frees the weights once the last slot is closed. */
  close(): void;
}

/**
 * The type that the model's weights are held in for computing; 'auto': the fastest that does not cost words, on a GPU
 * float16.
 */
export type ComputeType = 'auto' | 'int8' | 'bfloat16' | 'float32';

export interface RecogniserOptions {
  /** An id of devices(); no CUDA device has measured it. */
  device: string;
  /** Default 'off'. */
  accelerator?: AcceleratorMode;
  /** Default 'auto'. */
  compute?: ComputeType;
  /**
   * The heads of the decoder's cross-attention that words are aligned by; default (or none): all of the upper half of
   * its layers.
   */
  alignmentHeads?: readonly AttentionHead[];
  /** Where weights that are packed for this engine's own kernels are kept for later starts. Default: nowhere. */
  weightCache?: WeightCacheOptions;
}

/** Both counted from 0. */
export interface AttentionHead {
  layer: number;
  head: number;
}

export type WindowStage = 'encode' | 'decode' | 'done';

/** A window on its way through encoder and batch; in the hands of one of them at a time. */
export interface WindowInFlight {
  /** While an encoder or a batch works on it, the stage that the work began with. */
  readonly stage: WindowStage;
  /** Once, when it is done; throws what its encoding or decoding ended with. */
  result(): WindowResult;
  /**
   * At any time: no encoder works on it beyond the unit under way, a batch drops its rows before its next step and
   * hands it back, and result() throws `aborted`.
   */
  abort(): void;
  /** Frees its memory now, or when the work on it is done; idempotent. */
  release(): void;
}

export interface WindowEncoder {
  /**
   * One bounded unit of work on a window to be encoded; resolves to its stage after it. An error ends the window, which
   * is done then. Windows may take turns between units, and may go on in another encoder. `threads`: of this unit, 1 to
   * 256; default: those that the encoder was made for. The result does not depend on them.
   */
  advance(window: WindowInFlight, options?: { threads?: number }): Promise<WindowStage>;
  close(): void;
}

export interface BatchAdvance {
  /** The windows that left the batch: done, or to be encoded once more. */
  left: WindowInFlight[];
  steps: number;
  /** Of all steps together: tokens decoded, prompts included. */
  rows: number;
}

/** Windows that are decoded together, a token of each a step. */
export interface DecoderBatch {
  /** Windows in it. */
  readonly size: number;
  /** A window to be decoded is in the batch from the next step on; also while advance() runs. */
  add(window: WindowInFlight): void;
  /**
   * At most so many steps, 1 or more, on so many threads, 1 to 256. Resolves early when a window leaves, or none is
   * left. Calls must not overlap. An error of one window ends that window. If a step itself fails, all its windows
   * leave with that error.
   */
  advance(options: { steps: number; threads: number }): Promise<BatchAdvance>;
  close(): void;
}

/** A speech model that decodes many windows at once, in units of work that the caller puts into order. */
export interface Recogniser {
  readonly info: SpeechModelInfo;
  readonly longestWindowSeconds: number;
  /** Throws `invalid_argument` naming the option, `unsupported_language`. The samples may be released meanwhile. */
  openWindow(window: AudioWindow, options: DecodeOptions): WindowInFlight;
  createEncoder(options: { threads: number }): Promise<WindowEncoder>;
  createBatch(): Promise<DecoderBatch>;
  /** Frees the weights once all that was made of it is closed. */
  close(): void;
}

export interface RandomModelOptions {
  /** Of a published multilingual model. */
  shape: 'tiny' | 'base' | 'small' | 'large-v3-turbo';
  weights: 'f32' | 'f16' | 'q5_0' | 'q5_1' | 'q8_0';
  /** Text tokens of every window, 1 to 400. */
  textTokens: number;
  /** Layers of the encoder; default, and most: as many as the published model has. */
  audioLayers?: number;
}
