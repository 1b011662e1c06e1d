/**
 * The rule for the published model that a machine gets if nobody chose one, and the state of the search for it.
 * docs/models.md has the rule as a table.
 */

import type { RandomModelOptions } from '../engine/binding.js';

/** Whisper's published shapes, as the addon knows them. */
export type MeasuredShape = RandomModelOptions['shape'];

export interface Candidate {
  /** The model's name in the manifest. */
  model: string;
  shape: MeasuredShape;
  /** Layers of the encoder. */
  layers: number;
  /** How many of the layers are measured. All layers cost the same. */
  measuredLayers: number;
}

/** In order of text quality, best first. Each supports all languages of Whisper. */
export const CANDIDATES: readonly Candidate[] = Object.freeze([
  { model: 'large-v3-turbo-q8_0', shape: 'large-v3-turbo', layers: 32, measuredLayers: 4 },
  { model: 'small-q8_0', shape: 'small', layers: 12, measuredLayers: 4 },
  { model: 'base-q8_0', shape: 'base', layers: 6, measuredLayers: 6 },
  { model: 'tiny-q8_0', shape: 'tiny', layers: 4, measuredLayers: 4 },
]);

/** Measured speed of each model, in seconds of audio per second, on one stream. */
export type ModelSpeeds = Readonly<Record<string, number>>;

/** The best published model that a machine carries. */
export interface MachineModel {
  name: string;
  /** As measured here: seconds of audio per second, on one stream. */
  speed: number;
}

/** A slower model is never chosen. */
export const LEAST_SPEED = 3;
/** The speed that a chosen model must reach after it is loaded, while the machine does its other work. */
export const LEAST_TRIED_SPEED = 2;
/** Each model takes at least this many times the work of the next smaller one. */
const LEAST_RATIO = 2;

/**
 * What to measure next, given the known speeds: base first, then larger models while they may be fast enough. tiny is
 * measured only if base is too slow or does not fit into memory. null: nothing is left to measure.
 */
export function nextToMeasure(speeds: ModelSpeeds, fits: (candidate: Candidate) => boolean): Candidate | null {
  const [turbo, small, base, tiny] = CANDIDATES as [Candidate, Candidate, Candidate, Candidate];
  const isOpen = (candidate: Candidate): boolean => speeds[candidate.model] === undefined && fits(candidate);
  const mayCarryMore = ({ model }: Candidate): boolean => (speeds[model] ?? 0) >= LEAST_SPEED * LEAST_RATIO;
  if (isOpen(base)) return base;
  if ((speeds[base.model] ?? 0) < LEAST_SPEED) return isOpen(tiny) ? tiny : null;
  if (mayCarryMore(base) && isOpen(small)) return small;
  return mayCarryMore(small) && isOpen(turbo) ? turbo : null;
}

/** The candidates that are fast enough here, best first. */
export function fastEnough(speeds: ModelSpeeds): Candidate[] {
  return CANDIDATES.filter(({ model }) => (speeds[model] ?? 0) >= LEAST_SPEED);
}

/** 'waiting': until the next attempt, an hour after the last one. 'ended': no attempt until the next start. */
export type AutomaticModelPhase = 'measuring' | 'downloading' | 'trying' | 'waiting' | 'ended';

export interface AutomaticModelState {
  phase: AutomaticModelPhase;
  /** null: none is chosen yet. */
  model: string | null;
  /** Why the last attempt failed, in a sentence. */
  problem: string | null;
}
