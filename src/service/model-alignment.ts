/** `verbatim models align`: measures which heads of a speech model give word times, and stores them with the model. */
import { existsSync } from 'node:fs';
import { loadBinding, type AttentionHead } from '../engine/binding.js';
import { measureHeads, type HeadMeasurementOptions } from '../models/alignment/head-measurement.js';
import type { HeadSelection } from '../models/alignment/head-selection.js';
import { readTimedClips } from '../models/alignment/timed-clips.js';
import { register } from '../models/import.js';
import { findModel, kindText, windowPolicy } from '../models/manifest.js';
import { readImported } from '../models/read-manifest.js';
import { modelPath } from '../models/store.js';
import type { ServiceContext } from './context.js';
import { ownCommand } from '../package-root.js';

export interface ModelAlignment {
  selection: HeadSelection<AttentionHead>;
  /** Whether the heads were stored in the registry of imported models. A model of the manifest keeps its heads. */
  isStored: boolean;
}

/** `clips`: a directory for readTimedClips(). Throws an Error that says what to do. */
export async function alignModel(
  name: string,
  clips: string,
  { config, roots, manifest }: ServiceContext,
  onPass: NonNullable<HeadMeasurementOptions['onPass']>,
): Promise<ModelAlignment> {
  const entry = findModel(manifest, name);
  if (entry.kind !== 'speech') throw new Error(`"${name}" is a ${kindText(entry)} model; a speech model is required.`);
  const path = modelPath(roots, entry);
  if (!existsSync(path))
    throw new Error(`The model "${name}" is not installed. Run: ${ownCommand} models pull ${name}`);
  const timed = readTimedClips(clips);
  const binding = loadBinding();
  const policy = windowPolicy(manifest, entry);
  const { accelerator, threads } = config;
  const recogniser = await binding.loadRecogniser(path, { device: 'cpu', accelerator });
  try {
    const selection = await measureHeads({ binding, recogniser, policy, clips: timed, threads, onPass });
    const isStored = readImported(roots.modelsDir).some((model) => model.name === name);
    if (isStored) register(roots.modelsDir, { ...entry, alignmentHeads: chosen(selection) });
    return { selection, isStored };
  } finally {
    recogniser.close();
  }
}

function chosen({ grown }: HeadSelection<AttentionHead>): [layer: number, head: number][] {
  return (grown.at(-1)?.heads ?? []).map(({ layer, head }) => [layer, head]);
}
