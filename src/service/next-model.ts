/**
 * A speech model that is to serve beside and then instead of another: whether it can, and how it comes into service.
 */
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
import type { NextModel } from './model-turns.js';
import { configuredModel } from './speech-engine.js';

/**
 * Most that the process of an engine was measured to take while it loads: its weights may be packed again before the
 * file's are let go. The rest is Node.js, the addon and what windows are computed in.
 */
const FILE_COPIES = 2;
const BESIDES_BYTES = 256 * 2 ** 20;

export interface NextModelParts {
  settings: EngineSettings;
  dependencies: EngineDependencies;
  /** Bytes that other processes may take; null: nobody knows. */
  room?: () => number | null;
}

/**
 * The manifest is read again: it may have been installed since the start. `leastSpeed`: see checkModel(). Throws
 * ModelRefused.
 */
export function nextModel(
  name: string,
  { settings, dependencies, room = freeMemory }: NextModelParts,
  leastSpeed?: number,
): NextModel {
  const { roots, config } = settings;
  const manifest = readManifest(roots.packageRoot, roots.modelsDir);
  const next = { ...settings, manifest, config: { ...config, model: name } };
  const { entry, path } = refusing(() => configuredModel(next.config, roots, manifest));
  const { devices = eachDevice(config.deviceSetting) } = dependencies;
  refuseWithoutRoom(name, devices.length * bytesFor(statSync(path).size), room());
  return {
    start: (signal) => startApart(next, dependencies, signal),
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

/** Bytes of memory that the process of a model's engine may take while it loads. */
export function bytesFor(fileBytes: number): number {
  return FILE_COPIES * fileBytes + BESIDES_BYTES;
}

function refuseWithoutRoom(name: string, needed: number, free: number | null): void {
  if (free === null || needed <= free) return;
  throw new ModelRefused(
    `"${name}" takes up to ${mebibytes(needed)} MiB beside the model that serves, and ${mebibytes(free)} MiB of ` +
      `memory are free. ` +
      'Nothing has changed; with VERBATIM_MODEL and a restart there is one model at a time.',
  );
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
