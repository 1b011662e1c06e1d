/** The speech models that requests can name, with the facts about each, and the engine of the named one. */
import { statSync } from 'node:fs';
import { eachDevice } from '../engine/devices.js';
import { ModelRefused } from '../errors.js';
import { windowPolicy, type Manifest, type SpeechModelEntry } from '../models/manifest.js';
import { readManifest } from '../models/read-manifest.js';
import { speechFacts } from '../models/speech-facts.js';
import { isInstalled, modelPath } from '../models/store.js';
import {
  unsupportedModel,
  type EngineLease,
  type ListedSpeechModel,
  type SpeechModelDirectory,
} from '../transcription/engine-lease.js';
import type { EngineDependencies } from './device-engine.js';
import { startApart } from './engine-apart.js';
import type { EngineSettings } from './engines.js';
import type { LoadedModels, ModelToLoad, SpeechLease } from './loaded-models.js';
import type { ModelTurns } from './model-turns.js';
import { bytesFor } from './model-memory.js';

export interface InstalledSpeechOptions {
  settings: EngineSettings;
  dependencies: EngineDependencies;
  /** The default model, and the change to another one. */
  turns: Pick<ModelTurns, 'serving' | 'acquire' | 'state'>;
  loaded: Pick<LoadedModels, 'lease' | 'list'>;
}

export class InstalledSpeech implements SpeechModelDirectory {
  constructor(private readonly options: InstalledSpeechOptions) {}

  /** As AcquireEngines. */
  acquire(model: string | null): EngineLease {
    const { turns, loaded } = this.options;
    if (model === null || model === turns.serving.info.modelName) return turns.acquire();
    const info = this.find(model)?.info;
    if (info === undefined) throw unsupportedModel(model, this.#names());
    const lease = turns.acquire();
    const leases: SpeechLease[] = [];
    let isReleased = false;
    return {
      ...lease,
      info,
      speech: async (request) => {
        const speech = await loaded.lease(model, request).catch((error: unknown) => {
          // The model was removed in the meantime.
          throw error instanceof ModelRefused ? unsupportedModel(model, this.#names()) : error;
        });
        leases.push(speech);
        if (isReleased) speech.release();
        return speech.engine;
      },
      release: () => {
        isReleased = true;
        for (const { release } of leases) release();
        lease.release();
      },
    };
  }

  find(name: string): ListedSpeechModel | null {
    const known = this.#inMemory().find(({ info }) => info.modelName === name);
    if (known !== undefined) return known;
    const entry = this.#installed().find((one) => one.name === name);
    return entry === undefined ? null : this.#onDisk(entry);
  }

  list(): [ListedSpeechModel, ...ListedSpeechModel[]] {
    const [serving, ...others] = this.#inMemory();
    const known = [serving, ...others].map(({ info }) => info.modelName);
    const onDisk = this.#installed().filter(({ name }) => !known.includes(name));
    return [serving, ...others, ...onDisk.map((entry) => this.#onDisk(entry))];
  }

  /** The default model comes first. */
  #inMemory(): [ListedSpeechModel, ...ListedSpeechModel[]] {
    const { turns, loaded } = this.options;
    const { info } = turns.serving;
    const others = loaded.list().filter((one) => one.info.modelName !== info.modelName);
    return [
      { info, loaded: true, since: turns.state().since },
      ...others.map(({ info, since }) => ({ info, loaded: true, since })),
    ];
  }

  #names(): string[] {
    return this.list().map(({ info }) => info.modelName);
  }

  #installed(): SpeechModelEntry[] {
    return installedSpeech(this.options.settings).models;
  }

  /** Facts about a model that is not loaded. Devices and voice activity are those of the server. */
  #onDisk(entry: SpeechModelEntry): ListedSpeechModel {
    const { devices, voiceActivity } = this.options.turns.serving.info;
    const { settings } = this.options;
    const facts = speechFacts(entry, modelPath(settings.roots, entry));
    const { maxSeconds: windowSeconds } = windowPolicy(installedSpeech(settings).manifest, entry);
    return { info: { ...facts, devices, voiceActivity, windowSeconds, commits: null }, loaded: false, since: null };
  }
}

/** Reads the manifest again, because models may have been installed since the start. */
function installedSpeech({ roots }: EngineSettings): { manifest: Manifest; models: SpeechModelEntry[] } {
  const manifest = readManifest(roots.packageRoot, roots.modelsDir);
  const models = manifest.models.filter((entry) => entry.kind === 'speech').filter((one) => isInstalled(roots, one));
  return { manifest, models };
}

/** How to load a model beside the default one. Throws ModelRefused. */
export function modelToLoad(name: string, settings: EngineSettings, dependencies: EngineDependencies): ModelToLoad {
  const { roots, config } = settings;
  const { manifest, models } = installedSpeech(settings);
  const entry = models.find((one) => one.name === name);
  if (entry === undefined) throw new ModelRefused(`There is no speech model "${name}".`);
  const { devices = eachDevice(config.deviceSetting) } = dependencies;
  const own = { ...settings, manifest, config: Object.freeze({ ...config, model: name }) };
  return {
    bytes: devices.length * bytesFor(statSync(modelPath(roots, entry)).size),
    start: (signal) => startApart(own, dependencies, signal),
  };
}
