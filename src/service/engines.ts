/** Creates the engines that the settings ask for, in the current process. */
import { availableParallelism } from 'node:os';
import type { NativeBinding, WeightCacheReport } from '../engine/binding.js';
import { loadBindingFor } from '../engine/device-binding.js';
import { eachDevice, resolveDevices } from '../engine/devices.js';
import { onlyDevice } from '../engine/only-device.js';
import type { SpeechDecoder } from '../engine/speech/speech-models.js';
import type { TranslationEngine } from '../engine/translation/translation-engine.js';
import type { TranslationObserver } from '../engine/translation/translation-scheduler.js';
import type { LocalSpeechEngine } from '../engine/speech/transcriber.js';
import type { EngineInfo, EngineObserver } from '../engine/types.js';
import type { Manifest } from '../models/manifest.js';
import { hashFile, type StoreRoots } from '../models/store.js';
import type { Config } from './config.js';
import { speechDecoder } from './speech-decoder.js';
import { configuredModel, loadEngine } from './speech-engine.js';
import { createTranslationEngine } from './translation-engine.js';
import { readTuned, withTuned, type AppliedSettings, type SettingVariables } from './tuned.js';

/** Everything that the engines are created from. It can be copied to another process. */
export interface EngineSettings {
  config: Config;
  roots: StoreRoots;
  manifest: Manifest;
  /**
   * The environment variables of settings that can be tuned. null: the configuration already contains the tuned
   * settings.
   */
  env: SettingVariables | null;
  /** The only device that these engines use. null: all devices of the configuration. */
  device: string | null;
}

/** The settings in effect, as plain values. */
export interface ServedInfo extends EngineInfo {
  decoder: SpeechDecoder;
  /** With the tuned settings, if they are used. */
  config: Config;
  /** How the tuned settings were used, for the log. null: there are none. */
  tuned: string | null;
  /** null without a cache. */
  weightCache: WeightCacheReport | null;
}

export interface Engines {
  speech: LocalSpeechEngine;
  translation: TranslationEngine;
  info: ServedInfo;
}

export interface EnginesOptions {
  observer: EngineObserver & TranslationObserver;
  binding?: NativeBinding;
}

/** Rejects if the settings or the models are wrong. */
export async function loadEngines(
  settings: EngineSettings,
  { observer, binding: given }: EnginesOptions,
): Promise<Engines> {
  const { roots, manifest, device } = settings;
  const whole = given ?? loadBindingFor(device ?? settings.config.deviceSetting);
  const binding = device === null ? whole : onlyDevice(whole, device);
  const { config, tuned } = await tunedConfig(settings, binding);
  const own = { ...config, deviceSetting: device ?? config.deviceSetting };
  const translation = createTranslationEngine(own, roots, manifest, { observer, binding });
  const speech = await loadEngine(own, roots, manifest, { observer, binding });
  const { entry } = configuredModel(config, roots, manifest);
  const decoder = speechDecoder(config, speech.info.devices.ids, entry);
  const info = { ...speech.info, config, tuned, decoder, weightCache: speech.weightCache };
  return { speech, translation, info };
}

async function tunedConfig(
  { config, roots, manifest, env, device }: EngineSettings,
  binding: NativeBinding,
): Promise<AppliedSettings> {
  const found = env === null ? null : readTuned();
  if (env === null || found === null) return { config, tuned: null };
  const { entry, path } = configuredModel(config, roots, manifest);
  const devices = resolveDevices(device ?? config.deviceSetting, binding);
  return withTuned(config, env, found, {
    modelName: entry.name,
    modelSha256: () => hashFile(path, 'sha256'),
    // The tuned number of slots is per device. It was found for all devices together, so it applies to each.
    devices: device === null ? devices : eachDevice(config.deviceSetting),
    decoder: speechDecoder(config, devices, entry),
    cores: availableParallelism(),
  });
}
