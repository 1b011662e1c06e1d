/** The audio of live sessions, which this process splits into utterances: their state outlives the engine's process. */
import {
  loadBinding,
  type LiveAudio,
  type LiveAudioOptions,
  type LiveBinding,
  type VoiceActivityModel,
} from '../engine/binding.js';
import type { Manifest } from '../models/manifest.js';
import type { StoreRoots } from '../models/store.js';
import type { Config } from './config.js';
import { voiceActivityModel } from './voice-activity.js';

export interface LiveAudioSource {
  open: (options: LiveAudioOptions) => LiveAudio;
  close: () => void;
}

/** Loads the model of voice activity that VERBATIM_VAD asks for. Rejects with the addon's error. */
export async function liveAudioSource(config: Config, roots: StoreRoots, manifest: Manifest): Promise<LiveAudioSource> {
  const binding = loadBinding();
  const path = voiceActivityModel(config, roots, manifest);
  const voice = path === null ? null : await binding.loadVoiceActivityModel(path);
  return openingWith(binding, voice);
}

export function openingWith(
  binding: Pick<LiveBinding, 'openLiveAudio'>,
  voice: VoiceActivityModel | null,
): LiveAudioSource {
  return {
    open: (options) => binding.openLiveAudio({ ...options, ...(voice === null ? {} : { voice }) }),
    close: () => voice?.close(),
  };
}
