/**
 * The typed contract of the native addon. Every promise is one bounded unit of work on a libuv worker thread. A
 * rejected promise carries a NativeError: `code` is one of NativeErrorCode, and `stack` shows the call. An AudioWindow
 * is a handle: its samples stay in native code. A SampleReader hands samples out for speakers, a LiveAudio for windows
 * that another process decodes.
 *
 * A value of the wrong type rejects with a TypeError of the code `invalid_argument`, which names the property and the
 * allowed values. Plain Errors of that code are: a value out of range, a closed handle, and a call on a slot, reader,
 * encoder or batch while its last one is still running. Handles may be closed at any time: memory that running work
 * uses is freed when the work is done. Work that is still running when its thread or the process ends is aborted.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../package-root.js';
import type { AudioOptions, AudioReader, SampleReader, VoiceActivityModel, WindowPolicy } from './binding/audio.js';
import type { AlignableRecogniser } from './binding/alignment.js';
import type { LiveBinding } from './binding/live-audio.js';
import type {
  RandomModelOptions,
  Recogniser,
  RecogniserOptions,
  SpeechModel,
  SpeechModelOptions,
} from './binding/speech-models.js';
import { CONTRACT } from './binding/contract.js';
import type { TranslationModel, TranslationModelOptions } from './binding/translation.js';

export type * from './binding/alignment.js';
export type * from './binding/audio.js';
export type * from './binding/decoding.js';
export type * from './binding/live-audio.js';
export type * from './binding/speech-models.js';
export type * from './binding/translation.js';

export type NativeErrorCode =
  | 'unsupported_audio_format'
  | 'invalid_audio'
  | 'unsupported_language'
  | 'invalid_model'
  | 'device_unavailable'
  | 'device_lost'
  | 'out_of_memory'
  | 'invalid_argument'
  | 'aborted'
  | 'io_error'
  | 'internal_error';

export interface NativeError extends Error {
  code: NativeErrorCode;
}

export interface DeviceInfo {
  /** 'cpu', 'cuda:0', ..., 'vulkan:0', ..., 'vulkan:software' */
  id: string;
  /** `integrated`: graphics that share the processor's memory; `software`: a card's work on the processor. */
  type: 'processor' | 'discrete' | 'integrated' | 'software';
  name: string;
  /** A Vulkan driver's name and version. */
  driver?: string;
  memoryBytes: number;
}

export interface NativeBinding extends Pick<LiveBinding, 'createWindow'> {
  readonly build: {
    whisper: string;
    cuda: boolean;
    vulkan: boolean;
    translationBackends: string[];
    compiler: string;
    /** The CONTRACT that it was built for. */
    contract: number;
    /** Why it has no accelerator on a CPU; absent where it has one. */
    withoutAccelerator?: string;
  };
  devices(): DeviceInfo[];
  /**
   * Native memory held by this thread's windows, models, slots, encoders and batches, in bytes: what V8's garbage
   * collector was given. Only the addon's tests ask for it, to find handles that free too little.
   */
  heldBytes(): number;
  openAudio(path: string, policy: WindowPolicy, options?: AudioOptions): Promise<AudioReader>;
  /** A Silero model as whisper.cpp's ggml file of it. */
  loadVoiceActivityModel(path: string): Promise<VoiceActivityModel>;
  /** A model of any family on whisper.cpp: a slot decodes a window by itself. */
  loadSpeechModel(path: string, options: SpeechModelOptions): Promise<SpeechModel>;
  /**
   * A Whisper file on the engine's own decoder, which decodes the windows of all requests together; others are refused.
   */
  loadRecogniser(path: string, options: RecogniserOptions): Promise<Recogniser>;
  /** A CTranslate2 model directory. */
  loadTranslationModel(directory: string, options: TranslationModelOptions): Promise<TranslationModel>;
}

/** The part of the addon for a process that computes on samples itself. */
export interface SampleBinding {
  openSamples(path: string): Promise<SampleReader>;
}

/** All of the addon. */
export interface NativeAddon extends NativeBinding, SampleBinding, LiveBinding {
  loadRecogniser(path: string, options: RecogniserOptions): Promise<AlignableRecogniser>;
  /**
   * A Whisper file with random weights. Its text is meaningless; it costs as much time and memory as a published model.
   */
  writeRandomModel(path: string, options: RandomModelOptions): Promise<void>;
}

const RELEASE = join(packageRoot, 'build', 'Release');
const VULKAN_ADDON = join(RELEASE, 'verbatim-vulkan.node');

/** Loads the addon from the build tree; the message says what to do when it is not built. */
export function loadBinding(): NativeAddon {
  const path = join(RELEASE, 'verbatim.node');
  if (!existsSync(path)) {
    throw new Error(`The native addon is not built: ${path} is missing. Run "npm run build:native".`);
  }
  return load(path);
}

/** A second addon beside the first, with Vulkan: the Debian package has one, and `npm run build:vulkan` makes one. */
export function hasVulkanAddon(): boolean {
  return existsSync(VULKAN_ADDON);
}

/** Throws an Error that names libvulkan.so.1 where Vulkan's loader is missing. */
export function loadVulkanBinding(): NativeAddon {
  return load(VULKAN_ADDON);
}

function load(path: string): NativeAddon {
  boundSpinning(process.env);
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return ofThisContract(require(path) as NativeAddon, path);
}

/**
 * OpenMP reads these when the addon brings it into the process. Threads that wait for each other spin for some 0.2 ms
 * then, and for 0.05 where there are more of them than cores, before they sleep: so long do the parts of a decoder's
 * step take. By default they spin for milliseconds, and two threads take 30 times as long on a busy machine.
 * With "passive" they do not spin at all, and a second thread makes a step slower.
 */
function boundSpinning(env: NodeJS.ProcessEnv): void {
  if (env['OMP_WAIT_POLICY'] !== undefined) return;
  env['OMP_WAIT_POLICY'] = 'active';
  env['GOMP_SPINCOUNT'] ??= '4000';
}

/** An addon of another contract lacks what this code calls: it is refused here, and not at the first such call. */
export function ofThisContract<T extends Pick<NativeBinding, 'build'>>(addon: T, path: string): T {
  const { contract } = addon.build;
  if (contract === CONTRACT) return addon;
  // One from before it was written down says nothing.
  const theirs = (contract as number | undefined) ?? 'none';
  throw new Error(
    `The native addon at ${path} was built for another version of this code (contract ${theirs}; wanted: ` +
      `${CONTRACT}). Run "npm run build:native".`,
  );
}
