/**
 * The published model that a machine gets where nobody chose one: the rule, and how far the server is with it.
 * docs/models.md has the rule as a table.
 */

import type { RandomModelOptions } from '../engine/binding.js';

/** Whisper's published shapes, as the addon knows them. */
export type MeasuredShape = RandomModelOptions['shape'];

export interface Candidate {
  /** A name of the manifest. */
  model: string;
  shape: MeasuredShape;
  /** Of the encoder. */
  layers: number;
  /** So many of them are measured: they cost the same. */
  measuredLayers: number;
}

/** By the quality of their text, best first. Each knows every language of Whisper. */
export const CANDIDATES: readonly Candidate[] = Object.freeze([
  { model: 'large-v3-turbo-q8_0', shape: 'large-v3-turbo', layers: 32, measuredLayers: 4 },
  { model: 'small-q8_0', shape: 'small', layers: 12, measuredLayers: 4 },
  { model: 'base-q8_0', shape: 'base', layers: 6, measuredLayers: 6 },
  { model: 'tiny-q8_0', shape: 'tiny', layers: 4, measuredLayers: 4 },
]);

/** Seconds of audio a second, on one stream, by model. */
export type ModelSpeeds = Readonly<Record<string, number>>;

/** A slower model is never chosen. */
export const LEAST_SPEED = 3;
/** What a chosen model has to reach once it is loaded, beside whatever else the machine does then. */
export const LEAST_TRIED_SPEED = 2;
/** Of two neighbours, the larger takes at least so many times the work. */
const LEAST_RATIO = 2;

/**
 * What to measure next, where `speeds` are known: base, then the larger ones while they may be fast enough, and tiny
 * where base is too slow or finds no room. null: nothing is left to measure.
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

/** 'waiting': until the next attempt, an hour after the last one. 'ended': no more attempts before the next start. */
export type AutomaticModelPhase = 'measuring' | 'downloading' | 'trying' | 'waiting' | 'ended';

export interface AutomaticModelState {
  phase: AutomaticModelPhase;
  /** null: none is chosen yet. */
  model: string | null;
  /** Why the last attempt failed, in a sentence. */
  problem: string | null;
}
