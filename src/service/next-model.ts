/** A speech model that is to replace the serving one: whether it can be loaded, and how it is started and checked. */
import { statSync } from 'node:fs';
import { eachDevice } from '../engine/devices.js';
import { ModelRefused } from '../errors.js';
import { readManifest } from '../models/read-manifest.js';
import { writeChosenModel } from './chosen-model.js';
import type { EngineDependencies } from './device-engine.js';
import { startApart, type EngineApart } from './engine-apart.js';
import type { EngineSettings } from './engines.js';
import { freeMemory } from './free-memory.js';
import { checkModel } from './model-check.js';
import { bytesFor, type ModelMemory } from './model-memory.js';
import type { NextModel } from './model-turns.js';
import { configuredModel } from './speech-engine.js';

export interface NextModelParts {
  settings: EngineSettings;
  dependencies: EngineDependencies;
  /** Bytes that other processes may use. null: unknown. */
  room?: () => number | null;
  /** Other loaded models, which are unloaded if they are idle. Default: none. */
  memory?: Pick<ModelMemory, 'idleBytes' | 'unloadIdle'>;
}

/**
 * Reads the manifest again, because the model may have been installed since the start. `leastSpeed`: see checkModel().
 * Throws ModelRefused.
 */
export function nextModel(
  name: string,
  { settings, dependencies, room = freeMemory, memory }: NextModelParts,
  leastSpeed?: number,
): NextModel {
  const { roots, config } = settings;
  const manifest = readManifest(roots.packageRoot, roots.modelsDir);
  const next = { ...settings, manifest, config: { ...config, model: name } };
  const { entry, path } = refusing(() => configuredModel(next.config, roots, manifest));
  const { devices = eachDevice(config.deviceSetting) } = dependencies;
  const bytes = devices.length * bytesFor(statSync(path).size);
  const free = room() ?? Infinity;
  refuseWithoutRoom(name, bytes, free + (memory?.idleBytes ?? 0));
  return {
    start: async (signal) => {
      if (bytes > free) await memory?.unloadIdle();
      return startApart(next, dependencies, signal);
    },
    check: async ({ onEach }: EngineApart, signal) => {
      const knowsText = entry.bundled === true;
      await Promise.all(onEach.map((engine) => checkModel({ engine, knowsText, leastSpeed }, signal)));
    },
    choose: () => {
      if (config.model === null) writeChosenModel(config.dataDir, name);
    },
  };
}

function refusing<T>(find: () => T): T {
  try {
    return find();
  } catch (error) {
    throw new ModelRefused((error as Error).message);
  }
}

function refuseWithoutRoom(name: string, needed: number, free: number): void {
  if (needed <= free) return;
  throw new ModelRefused(
    `"${name}" needs up to ${mebibytes(needed)} MiB beside the model in use, but only ${mebibytes(free)} ` +
      'MiB of memory are free. Nothing has changed. With VERBATIM_MODEL and a restart, only one model is ' +
      'in memory.',
  );
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
