/**
 * The typed contract of the native addon. Every promise is one bounded unit of work on a libuv worker thread;
 * a rejected promise carries a NativeError whose `code` is one of NativeErrorCode and whose `stack` shows the
 * call. Samples never cross into JavaScript: an AudioWindow is a handle.
 *
 * A value of the wrong type rejects with a TypeError of the code `invalid_argument` that names the property and
 * what is allowed; so do, as plain Errors, values out of range, closed handles, and a call on a slot, reader, encoder
 * or batch while its last one is still running. Handles may be closed at any time: what running work uses is freed when
 * the work is done. Work still running when its thread or the process ends is aborted.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../package-root.js';

export type NativeErrorCode =
  | 'unsupported_audio_format'
  | 'invalid_audio'
  | 'unsupported_language'
  | 'invalid_model'
  | 'device_unavailable'
  | 'out_of_memory'
  | 'invalid_argument'
  | 'aborted'
  | 'io_error'
  | 'internal_error';

export interface NativeError extends Error {
  code: NativeErrorCode;
}

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
   * 'quietest': fill windows up to maxSeconds and cut at the quietest place of the last searchSeconds.
   * 'pause': cut at every pause of at least minPauseSeconds, join neighbours up to maxSeconds, and fall back to
   * the quietest place where speech runs on longer than that.
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
  /** The same in samples as stored, over all channels: what the decoding costs. */
  readonly measuredSamples: number;
  /**
   * Decodes and cuts the next window that holds speech; null at the end, 'silence' after about a minute of audio without
   * any, 'reading' when the window's end is further than one call goes (with a model of voice activity 8 s, some 20 ms of
   * work): call again. Calls must not overlap.
   */
  nextWindow(): Promise<AudioWindow | 'silence' | 'reading' | null>;
  /** Seconds of the file passed by nextWindow, silence that was dropped included; as of its last answer. */
  readonly positionSeconds: number;
  close(): void;
}

/** Tells speech from everything else. Any number of readers may share it. */
export interface VoiceActivityModel {
  /** Readers that were opened with it keep it until they are closed. */
  close(): void;
}

export interface AudioOptions {
  /** Windows hold what this hears as speech; without it, all that stands out of the background. */
  voice?: VoiceActivityModel;
}

/** A file's samples, for who computes on them in JavaScript. */
export interface SampleReader {
  /**
   * The next samples, mono at 16 kHz, at most 160,000 at once; fewer than `count` only at the end, and then none. Calls must not
   * overlap.
   */
  read(count: number): Promise<Float32Array>;
  close(): void;
}

export interface DecodeOptions {
  /** ISO 639-1 code, or 'auto' to detect in the same encoder pass. */
  language: string;
  /** With 'auto': the language most likely from what is known already; a right guess saves a prompt pass. */
  languageGuess?: string;
  task?: 'transcribe' | 'translate';
  /** 1 = greedy. */
  beamSize?: number;
  bestOf?: number;
  temperature?: number;
  /** 0 switches the temperature fall-back off. */
  temperatureIncrement?: number;
  initialPrompt?: string;
  noSpeechThreshold?: number;
  logProbThreshold?: number;
  entropyThreshold?: number;
  /** 0 = no limit but the model's. */
  maxTokens?: number;
  ownLength?: boolean;
  /** Say when each word was said (Segment.words). The text is the same with it and without. */
  align?: boolean;
  /** Say what each segment was decoded to, and how (Segment.decoding). */
  describe?: boolean;
}

export interface Word {
  /** With the space before it as the model has it: the words of a segment joined are its text. */
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
  /** Ids of its text and time stamps. */
  tokens: number[];
  /** Mean natural log-probability of these, <= 0, as they were decoded at the temperature. */
  averageLogProbability: number;
  /** Of the pass that its text was taken from: the first one, or that of a fall-back; 0 to 1. */
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
   * How sure the model was: the mean natural log-probability, <= 0, of the tokens that segments with text were decoded to,
   * text and time stamps alike (not the prompt, not the end of text); null when there are none.
   */
  averageLogProbability: number | null;
  /** The tokens that count in averageLogProbability. */
  scoredTokens: number;
  timings: WindowTimings;
}

export interface NativeCallOptions {
  signal?: AbortSignal;
}

export interface Slot {
  /** Runs one window; a slot runs one call at a time. Aborting rejects with `aborted` and leaves the slot usable. */
  transcribe(window: AudioWindow, options: DecodeOptions, call?: NativeCallOptions): Promise<WindowResult>;
  close(): void;
}

/** What a speech model can be asked for. */
export interface SpeechAbilities {
  /** Tells which of its languages is spoken: the language may be 'auto'. */
  detectsLanguage: boolean;
  /** Knows Whisper's translate task, whether it was trained for it or not. */
  translates: boolean;
  takesPrompt: boolean;
  /** Above 0. */
  takesTemperature: boolean;
}

export interface SpeechModelInfo {
  /** Of models that are alike inside: whoever asks for something asks for an ability. */
  family: 'whisper' | 'parakeet';
  abilities: SpeechAbilities;
  /** The name of the published shape: tiny, base, ..., parakeet-tdt-0.6b; or 'custom'. */
  type: string;
  weightType: string;
  /** None where the file does not say. */
  languages: string[];
  /** 'cpu' or 'cuda:N'. */
  device: string;
  /** Human readable name of the device. */
  deviceName: string;
  memoryBytes: number;
  /** What computes the encoder's large products: '' for whisper.cpp alone, else e.g. 'onednn bfloat16'. */
  accelerator: string;
}

/**
 * What computes the encoder's large products on a CPU: whisper.cpp ('off'), or oneDNN where it was built in, in float32 or in the
 * fastest type that the processor multiplies ('auto': bfloat16, else float32).
 */
export type AcceleratorMode = 'auto' | 'float32' | 'off';

export interface SpeechModelOptions {
  /** 'cpu' or 'cuda:N'. */
  device: string;
  /** Default 'off'. The accelerator keeps a packed copy of the encoder's weights; models with and without it live side by side. */
  accelerator?: AcceleratorMode;
  /** As in RecogniserOptions. Words are aligned by the engine's own encoder and decoder, on the CPU; these are loaded with the first window that asks for words. */
  alignmentHeads?: readonly AttentionHead[];
}

export interface SpeechModel {
  readonly info: SpeechModelInfo;
  createSlot(options: { threads: number }): Promise<Slot>;
  /** Frees the weights once the last slot is closed. */
  close(): void;
}

/** The type that the decoder's weights are held in for computing; 'auto': the fastest that does not cost words, on CUDA float16. */
export type ComputeType = 'auto' | 'int8' | 'bfloat16' | 'float32';

export interface RecogniserOptions {
  /** 'cpu' or 'cuda:N', which no GPU has measured. */
  device: string;
  /** Default 'off'. */
  accelerator?: AcceleratorMode;
  /** Default 'auto'. */
  compute?: ComputeType;
  /** The heads of the decoder's cross-attention that words are aligned by; default (or none): all of the upper half of its layers. */
  alignmentHeads?: readonly AttentionHead[];
}

/** Both counted from 0. */
export interface AttentionHead {
  layer: number;
  head: number;
}

export interface DecoderHeads {
  layers: number;
  /** Of a layer. */
  heads: number;
  /** Those that words are aligned by. */
  alignment: readonly AttentionHead[];
}

export interface AlignTextOptions {
  /** What is said in the window. */
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

export type WindowStage = 'encode' | 'decode' | 'done';

/** A window on its way through encoder and batch; in the hands of one of them at a time. */
export interface WindowInFlight {
  /** While an encoder or a batch works on it, the stage that the work began with. */
  readonly stage: WindowStage;
  /** Once, when it is done; throws what its encoding or decoding ended with. */
  result(): WindowResult;
  /**
   * At any time: no encoder works on it beyond the unit under way, a batch drops its rows before its next step and hands it
   * back, and result() throws `aborted`.
   */
  abort(): void;
  /** Frees what it holds now, or when the work on it is done; idempotent. */
  release(): void;
}

export interface WindowEncoder {
  /**
   * One bounded unit of work on a window to be encoded; resolves to its stage after it. What goes wrong ends the window, which is
   * done then. Windows may take turns between units, and may go on in another encoder.
   */
  advance(window: WindowInFlight): Promise<WindowStage>;
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
   * At most so many steps, 1 or more, on so many threads, 1 to 256; resolves early when a window leaves, or none is left.
   * Calls must not overlap. What goes wrong with one window ends that window; if a step itself fails, every window of it is done
   * with that error, and leaves.
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
  readonly decoderHeads: DecoderHeads;
  /**
   * For choosing heads: lays a text that is known along a window, by each set of heads by itself. The times are the attention's
   * own: neither moved to speech nor cut at the ends of sentences. One encoder pass; aborting rejects with `aborted`.
   */
  alignText(window: AudioWindow, options: AlignTextOptions, call?: NativeCallOptions): Promise<TextAlignment>;
  /** Frees the weights once all that was made of it is closed. */
  close(): void;
}

export type TranslationBackend = 'auto' | 'ggml' | 'ctranslate2';

export interface TranslationModelOptions {
  /** 'cpu' or 'cuda:N'. */
  device: string;
  /**
   * The type the weights are computed in, whatever the file holds; 'auto' (default): the file's own. 'float16' is for GPUs:
   * on the CPU it is refused, and 'auto' makes float32 of a file in float16.
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

export interface DeviceInfo {
  /** 'cpu', 'cuda:0', ... */
  id: string;
  name: string;
  memoryBytes: number;
}

export interface NativeBinding {
  readonly build: { whisper: string; cuda: boolean; translationBackends: string[]; compiler: string };
  devices(): DeviceInfo[];
  /** Native memory held by this thread's windows, models, slots, encoders and batches, in bytes; V8's garbage collector is told. */
  heldBytes(): number;
  openAudio(path: string, policy: WindowPolicy, options?: AudioOptions): Promise<AudioReader>;
  /** A Silero model as whisper.cpp's ggml file of it. */
  loadVoiceActivityModel(path: string): Promise<VoiceActivityModel>;
  /** A model of any family on whisper.cpp: a slot decodes a window by itself. */
  loadSpeechModel(path: string, options: SpeechModelOptions): Promise<SpeechModel>;
  /** A Whisper file on the engine's own decoder, which decodes the windows of all requests together; others are refused. */
  loadRecogniser(path: string, options: RecogniserOptions): Promise<Recogniser>;
  /** A CTranslate2 model directory. */
  loadTranslationModel(directory: string, options: TranslationModelOptions): Promise<TranslationModel>;
}

/** What a process needs that computes on samples itself. */
export interface SampleBinding {
  openSamples(path: string): Promise<SampleReader>;
}

/** Loads the addon from the build tree; the message says what to do when it is not built. */
export function loadBinding(): NativeBinding & SampleBinding {
  const path = join(packageRoot, 'build', 'Release', 'verbatim.node');
  if (!existsSync(path)) {
    throw new Error(`The native addon is not built: ${path} is missing. Run "npm run build:native".`);
  }
  // OpenMP reads it when the addon brings it into the process. Its threads would otherwise spin while they wait for
  // each other, and on a machine that is busy with anything else a slot of two threads then takes 30 times as long.
  process.env['OMP_WAIT_POLICY'] ??= 'passive';
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return require(path) as NativeBinding & SampleBinding;
}
