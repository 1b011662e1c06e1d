/** Creates the translation engine from the configuration and the installed models. */
import type { NativeBinding } from '../engine/binding.js';
import { loadBindingFor } from '../engine/device-binding.js';
import { resolveDevices } from '../engine/devices.js';
import type { TranslationModelSpec } from '../engine/translation/translation-model.js';
import type { TranslationObserver } from '../engine/translation/translation-scheduler.js';
import { TranslationEngine } from '../engine/translation/translation-engine.js';
import { ConfigError, type Config } from './config.js';
import { TRANSLATORS } from './thread-pool.js';
import type { Manifest, TranslationModelEntry } from '../models/manifest.js';
import { isInstalled, modelPath, type StoreRoots } from '../models/store.js';

/** A model is loaded when a translation first needs it. */
export function createTranslationEngine(
  config: Config,
  roots: StoreRoots,
  manifest: Manifest,
  {
    observer,
    binding = loadBindingFor(config.deviceSetting),
  }: { observer?: TranslationObserver; binding?: NativeBinding } = {},
): TranslationEngine {
  const backend = config.translationBackend;
  const builtIn = binding.build.translationBackends;
  if (backend !== 'auto' && !builtIn.includes(backend)) {
    throw new ConfigError('VERBATIM_TRANSLATION_BACKEND', backend, ['auto', ...builtIn].join(', '));
  }
  return new TranslationEngine({
    binding,
    models: installedTranslationModels(roots, manifest),
    device: resolveDevices(config.deviceSetting, binding)[0] ?? 'cpu',
    backend,
    translators: TRANSLATORS,
    threads: config.threads,
    idleMs: config.modelIdleSeconds === 0 ? null : config.modelIdleSeconds * 1000,
    ...(observer === undefined ? {} : { observer }),
  });
}

export function installedTranslationModels(roots: StoreRoots, manifest: Manifest): TranslationModelSpec[] {
  return manifest.models
    .filter((entry) => entry.kind === 'translation')
    .filter((entry) => isInstalled(roots, entry))
    .map((entry) => specOf(roots, entry));
}

function specOf(roots: StoreRoots, entry: TranslationModelEntry): TranslationModelSpec {
  const { name, from, to, bundled, targetToken, sourceToken, codes } = entry;
  return {
    name,
    path: modelPath(roots, entry),
    from,
    to,
    ...(bundled === undefined ? {} : { bundled }),
    ...(targetToken === undefined ? {} : { targetToken }),
    ...(sourceToken === undefined ? {} : { sourceToken }),
    ...(codes === undefined ? {} : { codes }),
  };
}
