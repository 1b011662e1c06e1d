/** Which settings are best, with few measurements: successive halving. */
import type { SpeechDecoder } from '../../src/engine/speech/speech-models.js';
import { median, pairedRatios } from '../reports/statistics.js';
import type { EnginePass } from './engine-pass.js';
import { sweep, type Measured } from './sweep.js';

export interface Settings {
  slots: number;
  threads: number;
  /** Windows in flight of the batched decoder; null with whisper.cpp, which has one in each slot. */
  batch: number | null;
}

/** Windows in flight that are worth trying. */
const BATCHES = [4, 8, 16];

/**
 * What is worth trying. On a CPU: whole slots and threads that use half of the cores up to twice as many as there are
 * (a slot waits now and then), in steps of two; each with every size of the batch where windows are decoded together.
 * On a GPU the host's threads do little, and slots are what counts.
 */
export function tuneCandidates(devices: readonly string[], cores: number, decoder: SpeechDecoder['kind']): Settings[] {
  const batches = decoder === 'batched' ? BATCHES : [null];
  return computing(devices, cores).flatMap((settings) => batches.map((batch) => ({ ...settings, batch })));
}

function computing(devices: readonly string[], cores: number): Omit<Settings, 'batch'>[] {
  if (!devices.includes('cpu')) return powersOfTwo(32).map((slots) => ({ slots, threads: 1 }));
  const sizes = [...new Set([...powersOfTwo(cores), cores])];
  return sizes.flatMap((threads) =>
    [...new Set([...powersOfTwo(2 * cores), cores])]
      .filter((slots) => slots * threads >= cores / 2 && slots * threads <= 2 * cores)
      .map((slots) => ({ slots, threads })),
  );
}

function powersOfTwo(most: number): number[] {
  return Array.from({ length: Math.floor(Math.log2(most)) + 1 }, (_, exponent) => 2 ** exponent);
}

/** By its throughput; higher is better. */
export type Pass = Pick<EnginePass, 'rtfx'>;
/** With a pass for each round it was in. */
export type Trial = Measured<Settings, Pass>;
export type Measure = (settings: Settings) => Promise<Pass>;

export function rates(passes: readonly Pass[]): number[] {
  return passes.map(({ rtfx }) => rtfx);
}

function bestFirst(trials: readonly Trial[]): Trial[] {
  return trials.toSorted((a, b) => median(rates(b.passes)) - median(rates(a.passes)));
}

/**
 * Measures all candidates in turns, drops the worse half by the median of their passes so far, and goes on until one is
 * left: the close ones get the most measurements. Trials come back best first.
 */
export async function successiveHalving(candidates: readonly Settings[], measure: Measure): Promise<Trial[]> {
  if (candidates.length === 0) throw new RangeError('There is nothing to try.');
  let left: Trial[] = candidates.map((cell) => ({ cell, passes: [] }));
  const dropped: Trial[] = [];
  do {
    const cells = left.map(({ cell }) => cell);
    const round = await sweep(cells, { rounds: 1, measure });
    left = bestFirst(
      left.map(({ cell, passes }, index) => ({ cell, passes: [...passes, ...(round[index]?.passes ?? [])] })),
    );
    dropped.unshift(...left.splice(Math.max(1, Math.floor(left.length / 2))));
  } while (left.length > 1);
  return [...left, ...dropped];
}

/** Every candidate equally often, in turns: what the search saves, and is judged by. Best first. */
export async function sweepAll(candidates: readonly Settings[], rounds: number, measure: Measure): Promise<Trial[]> {
  return bestFirst(await sweep(candidates, { rounds, measure }));
}

export interface Comparison {
  /** Throughput, pass by pass. */
  baseline: number[];
  tuned: number[];
  /** Of tuned to baseline, pair by pair. */
  ratios: number[];
  /** Median of the ratios. */
  gain: number;
}

/** A B A B: what the winner gains, by measurements taken next to each other. */
export async function compareInPairs(
  baseline: Settings,
  tuned: Settings,
  pairs: number,
  measure: Measure,
): Promise<Comparison> {
  const measured = await sweep([baseline, tuned], { rounds: pairs, measure });
  const [before = [], after = []] = measured.map(({ passes }) => rates(passes));
  const ratios = pairedRatios(after, before);
  return { baseline: before, tuned: after, ratios, gain: median(ratios) };
}

/** A smaller gain cannot be distinguished from chance, and the defaults stay. */
export const LEAST_GAIN = 1.02;

export interface Choice extends Settings {
  /** Throughput of the choice and of the defaults, medians. */
  rtfx: number;
  defaultRtfx: number;
  /** Of the choice over the defaults; 1 where they stay. */
  gain: number;
}

/** The best where it gains enough over the defaults it was compared with, else the defaults. */
export function choose(baseline: Settings, best: Settings, comparison: Comparison): Choice {
  const defaultRtfx = median(comparison.baseline);
  const wins = !sameSettings(best, baseline) && comparison.gain >= LEAST_GAIN;
  if (!wins) return { ...baseline, rtfx: defaultRtfx, defaultRtfx, gain: 1 };
  return { ...best, rtfx: median(comparison.tuned), defaultRtfx, gain: comparison.gain };
}

export function sameSettings(a: Settings, b: Settings): boolean {
  return a.slots === b.slots && a.threads === b.threads && a.batch === b.batch;
}
