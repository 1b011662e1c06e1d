/** Chooses the published model for this machine by the rule in models/automatic-model.ts, for the command line. */
import type { ModelSpeeds } from '../../models/automatic-model.js';
import { findModel } from '../../models/manifest.js';
import { isInstalled, modelBytes } from '../../models/store.js';
import type { ServiceContext } from '../context.js';
import { freeMemory } from '../free-memory.js';
import { hubEndpoint } from '../model-store.js';
import { carriedModels } from './carried-models.js';
import { reachHub } from './hub.js';
import { fitsInto, measureMachine, type MeasureCalls } from './measure-machine.js';
import { readSpeeds } from './speed-file.js';
import { checkWritable } from './writable-models.js';

export interface ModelForMachine {
  name: string;
  /** Seconds of audio per second, on one stream. */
  speed: number;
  bytes: number | null;
  isInstalled: boolean;
}

export interface MeasuringCalls extends MeasureCalls {
  /** Called when a measurement starts. It takes about half a minute. */
  onMeasuring: () => void;
}

/** null: this machine was not measured with these settings. Throws as carriedModels() does. */
export function knownModelForMachine(context: ServiceContext): ModelForMachine | null {
  const speeds = readSpeeds(context.config);
  return speeds === null ? null : bestOf(speeds, context);
}

/**
 * First checks that the hub answers, then measures the machine unless that was done before. Rejects with an Error for
 * the user if the hub cannot be reached, nothing can be written, or the machine can run no model.
 */
export async function modelForMachine(context: ServiceContext, calls: MeasuringCalls): Promise<ModelForMachine> {
  const known = knownModelForMachine(context);
  if (known !== null) return known;
  checkWritable(context.roots.modelsDir);
  await reachHub(hubEndpoint(), calls.signal);
  calls.onMeasuring();
  return bestOf(await measureMachine(context, calls), context);
}

function bestOf(speeds: ModelSpeeds, { roots, manifest }: ServiceContext): ModelForMachine {
  const [best] = carriedModels(speeds, (candidate) => fitsInto(freeMemory(), candidate, manifest));
  const { model: name } = best;
  const entry = findModel(manifest, name);
  return { name, speed: speeds[name] ?? NaN, bytes: modelBytes(entry), isInstalled: isInstalled(roots, entry) };
}
