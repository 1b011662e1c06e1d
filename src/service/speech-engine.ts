/** Creates the speech engine that the configuration asks for. */
import { SetupError } from '../errors.js';
import { existsSync } from 'node:fs';
import type { NativeBinding } from '../engine/binding.js';
import { loadBindingFor } from '../engine/device-binding.js';
import { resolveDevices } from '../engine/devices.js';
import { createSpeechEngine, type LocalSpeechEngine, type SpeechEngineOptions } from '../engine/speech/transcriber.js';
import type { EngineObserver } from '../engine/types.js';
import type { Config } from './config.js';
import { slotsOn } from './slots.js';
import { speechDecoder } from './speech-decoder.js';
import { voiceActivityModel } from './voice-activity.js';
import {
  alignmentHeads,
  findModel,
  kindText,
  windowPolicy,
  type Manifest,
  type SpeechModelEntry,
} from '../models/manifest.js';
import { MOST_PACKED_BYTES, packedDirectory, tidyPackedWeights } from '../models/packed-weights.js';
import { isInstalled, modelPath, type StoreRoots } from '../models/store.js';
import { ownCommand } from '../package-root.js';

export interface InstalledModel {
  entry: SpeechModelEntry;
  path: string;
}

/** The configured speech model. Throws an Error that says what to do if it is not installed. */
export function configuredModel(config: Config, roots: StoreRoots, manifest: Manifest): InstalledModel {
  const entry = findModel(manifest, config.model ?? manifest.defaultSpeechModel, 'speech');
  if (entry.kind !== 'speech')
    throw new SetupError(`"${entry.name}" is a ${kindText(entry)} model; VERBATIM_MODEL must name a speech model.`);
  const path = modelPath(roots, entry);
  if (!existsSync(path)) {
    throw new SetupError(
      `The model "${entry.name}" is not installed (${path}). Install it: ${ownCommand} models pull ${entry.name}. ` +
        `Installed: ${installedSpeech(manifest, roots)}.`,
    );
  }
  return { entry, path };
}

function installedSpeech({ models }: Manifest, roots: StoreRoots): string {
  const installed = models.filter((entry) => entry.kind === 'speech' && isInstalled(roots, entry));
  return installed.map(({ name }) => name).join(', ') || 'none';
}

export interface EngineParts {
  observer?: EngineObserver;
  binding?: NativeBinding;
}

export async function loadEngine(
  config: Config,
  roots: StoreRoots,
  manifest: Manifest,
  { observer, binding = loadBindingFor(config.deviceSetting) }: EngineParts = {},
): Promise<LocalSpeechEngine> {
  const { entry, path } = configuredModel(config, roots, manifest);
  const devices = resolveDevices(config.deviceSetting, binding);
  const heads = alignmentHeads(manifest, entry);
  if (config.weightCache !== 'off') tidyPackedWeights(roots.modelsDir);
  return createSpeechEngine({
    binding,
    modelPath: path,
    modelName: entry.name,
    policy: windowPolicy(manifest, entry),
    voiceActivityModel: voiceActivityModel(config, roots, manifest),
    ...(entry.languages === 'whisper' ? {} : { languages: entry.languages }),
    translates: entry.translates === true,
    isDemonstration: entry.demonstration === true,
    ...(entry.minAverageLogProbability === undefined
      ? {}
      : { minAverageLogProbability: entry.minAverageLogProbability }),
    ...(heads === undefined ? {} : { alignmentHeads: heads }),
    ...weightCacheOf(config, entry, path),
    decoder: speechDecoder(config, devices, entry),
    devices,
    slots: slotsOn(devices, config),
    threads: config.threads,
    accelerator: config.accelerator,
    ffmpeg: config.ffmpeg,
    ...(observer === undefined ? {} : { observer }),
  });
}

/** The bundled model is packed in a moment, and the package's own directory is not written to. */
function weightCacheOf(
  { weightCache }: Config,
  { bundled = false }: SpeechModelEntry,
  path: string,
): Pick<SpeechEngineOptions, 'weightCache'> {
  if (weightCache === 'off' || bundled) return {};
  const directory = packedDirectory(path);
  return { weightCache: { directory, maxBytes: MOST_PACKED_BYTES, alwaysShared: weightCache === 'shared' } };
}
