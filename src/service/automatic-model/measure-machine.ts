/** Measures which published models this machine is fast enough for, and stores the result. */
import type { DeviceInfo } from '../../engine/binding.js';
import { loadBindingFor } from '../../engine/device-binding.js';
import { resolveDevices } from '../../engine/devices.js';
import { nextToMeasure, type Candidate, type ModelSpeeds } from '../../models/automatic-model.js';
import { findModel, type Manifest } from '../../models/manifest.js';
import { modelBytes } from '../../models/store.js';
import type { Config } from '../config.js';
import type { ServiceContext } from '../context.js';
import { freeMemory } from '../free-memory.js';
import { bytesFor } from '../model-memory.js';
import { measureSpeed } from './measured-speed.js';
import { withMeasurementDirectory } from './measurement-directory.js';
import { writeSpeeds } from './speed-file.js';

export interface MeasureCalls {
  signal: AbortSignal;
  onMeasured: (model: string, speed: number) => void;
  /** Bytes of memory that may be used; null: unknown. Default: the free memory of this machine and its devices. */
  room?: () => number | null;
  /** Default: writeSpeeds(). */
  keep?: (config: Config, speeds: ModelSpeeds) => void;
}

const NO_ROOM = 'There is not enough free memory to load even the smallest published model';

/**
 * Measures base first, then larger models while they may be fast enough, and stores the result. Rejects if there is no
 * memory for any model, and as measureSpeed() does.
 */
export async function measureMachine(
  context: ServiceContext,
  { signal, onMeasured, room = roomFor(context.config), keep = writeSpeeds }: MeasureCalls,
): Promise<ModelSpeeds> {
  const speeds: Record<string, number> = {};
  const fits = (candidate: Candidate): boolean => fitsInto(room(), candidate, context.manifest);
  for (let next = nextToMeasure(speeds, fits); next !== null; next = nextToMeasure(speeds, fits))
    Object.assign(speeds, await measureModels([next], context, { signal, onMeasured }));
  if (Object.keys(speeds).length === 0) throw new Error(NO_ROOM);
  keep(context.config, speeds);
  return speeds;
}

/** Measures these models, without a check of memory. Stores nothing. Rejects as measureSpeed() does. */
export async function measureModels(
  candidates: readonly Candidate[],
  context: ServiceContext,
  { signal, onMeasured }: Pick<MeasureCalls, 'signal' | 'onMeasured'>,
): Promise<ModelSpeeds> {
  return withMeasurementDirectory(async (directory) => {
    const speeds: Record<string, number> = {};
    for (const candidate of candidates) {
      const speed = await measureSpeed(candidate, context, { directory, signal });
      speeds[candidate.model] = speed;
      onMeasured(candidate.model, speed);
    }
    return speeds;
  });
}

function roomFor({ deviceSetting }: Config): () => number | null {
  const binding = loadBindingFor(deviceSetting);
  const ids = resolveDevices(deviceSetting, binding);
  return () => leastRoom(freeMemory(), binding.devices(), ids);
}

/** The smaller of the free memory of this machine and the memory of the devices that have their own. null: unknown. */
export function leastRoom(
  free: number | null,
  devices: readonly Pick<DeviceInfo, 'id' | 'memoryBytes'>[],
  ids: readonly string[],
): number | null {
  const apart = devices.filter(({ id }) => id !== 'cpu' && ids.includes(id));
  const least = Math.min(free ?? Infinity, ...apart.map(({ memoryBytes }) => memoryBytes));
  return Number.isFinite(least) ? least : null;
}

/** Whether there is enough memory for the model's process while it loads. */
export function fitsInto(free: number | null, candidate: Candidate, manifest: Manifest): boolean {
  return free === null || neededBytes(candidate, manifest) <= free;
}

/** Memory that is needed while the model loads. */
export function neededBytes({ model }: Candidate, manifest: Manifest): number {
  return bytesFor(modelBytes(findModel(manifest, model)) ?? Infinity);
}
