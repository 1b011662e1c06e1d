/**
 * Audio of which it is known when somebody speaks: recordings with RTTM, and clips between silences that are made here.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readClips, type Clip } from './clips.js';
import { shuffled, type Random } from './random.js';
import type { Interval } from '../reports/intervals.js';
import { parseRttm } from '../speakers/rttm.js';

export interface Scene {
  path: string;
  /** When somebody speaks. */
  spoken: readonly Interval[];
}

export interface Noise {
  /** Pink, so much below the speech; null: none. */
  decibelsBelow: number | null;
  seed: number;
}

/** Clips in one made scene. */
const CLIPS_A_SCENE = 12;

/** The audio files of a directory that have an RTTM file of their name beside them. Throws an Error for none. */
export function scenesWithRttm(directory: string): Scene[] {
  if (!existsSync(directory)) throw new Error(`There is no directory ${directory}.`);
  const lists = readdirSync(directory).filter((name) => name.endsWith('.rttm'));
  const clips = lists.length === 0 ? [] : readClips(directory);
  const scenes = clips.flatMap(({ path }) => {
    const list = `${stem(path)}.rttm`;
    return lists.includes(list) ? [{ path, spoken: spokenIn(join(directory, list)) }] : [];
  });
  if (scenes.length === 0) throw new Error(`${directory} holds no audio files with RTTM beside them.`);
  return scenes;
}

/** `tool` is the program make_scene; what it writes lies in `directory`. */
export function scenesOfClips(
  clips: readonly Clip[],
  random: Random,
  { tool, directory, noise }: { tool: string; directory: string; noise: Noise },
): Scene[] {
  const order = shuffled(random, [...clips]);
  const scenes: Scene[] = [];
  for (let at = 0; at < order.length; at += CLIPS_A_SCENE) {
    const path = join(directory, `scene-${String(scenes.length).padStart(3, '0')}.wav`);
    const list = path.replace(/wav$/, 'rttm');
    const files = order.slice(at, at + CLIPS_A_SCENE).map((clip) => clip.path);
    makeScene(tool, path, noise, [list, ...files]);
    scenes.push({ path, spoken: spokenIn(list) });
  }
  return scenes;
}

/** The same scene with noise. */
export function withNoise(
  { path, spoken }: Scene,
  { tool, directory, noise }: { tool: string; directory: string; noise: Noise },
): Scene {
  if (noise.decibelsBelow === null) return { path, spoken };
  const noisy = join(directory, `${stem(path)}.wav`);
  makeScene(tool, noisy, noise, ['none', path]);
  return { path: noisy, spoken };
}

function makeScene(tool: string, path: string, { decibelsBelow, seed }: Noise, words: readonly string[]): void {
  const run = spawnSync(tool, [path, String(seed), String(decibelsBelow ?? 'none'), ...words], {
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`${tool} failed: ${run.stderr}`);
}

/** By anybody, in the one recording of an RTTM file. */
function spokenIn(path: string): Interval[] {
  const turns = [...parseRttm(readFileSync(path, 'utf8')).values()].flat();
  return turns.map(({ startSeconds: start, endSeconds: end }) => ({ start, end }));
}

function stem(path: string): string {
  return basename(path).replace(/\.[^.]+$/, '');
}
