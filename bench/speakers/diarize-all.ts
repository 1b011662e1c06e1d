import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadBinding, type WindowPolicy } from '../../src/engine/binding.js';
import { SpeakerEngine, type SpeakerEngineOptions } from '../../src/engine/speakers/speaker-engine.js';
import type { FileToDiarize } from '../../src/engine/speakers/file-to-diarize.js';
import type { SpeakerTurn } from '../../src/engine/speakers/speaker-turn.js';
import { AUDIO_EXTENSIONS, durationOf } from '../load/clips.js';
import { sum } from '../reports/statistics.js';
import { speakersOf } from './scored-spans.js';

export interface DiarizeAllOptions extends SpeakerEngineOptions {
  /** The recordings, by their names. */
  audio: string;
  /** The number of speakers of each. */
  knownCount: boolean;
}

/** Nothing is cut here: any policy measures. */
const POLICY: WindowPolicy = {
  ...{ maxSeconds: 30, cut: 'quietest', minPauseSeconds: 0.15, searchSeconds: 3, ownLength: false },
};

/**
 * Every recording of the references, one after the other, behind one that warms up; the real-time factor is of
 * wall-clock time.
 */
export async function diarizeAll(
  references: ReadonlyMap<string, readonly SpeakerTurn[]>,
  { audio, knownCount, ...options }: DiarizeAllOptions,
): Promise<{ turns: Map<string, SpeakerTurn[]>; realTimeFactor: number }> {
  const files: [recording: string, file: FileToDiarize][] = [];
  for (const [recording, reference] of references)
    files.push([recording, await fileOf(recordingIn(audio, recording), knownCount ? reference : null)]);
  const engine = new SpeakerEngine(options);
  try {
    for (const [, file] of files.slice(0, 1)) await engine.diarize(file);
    const begun = performance.now();
    const turns = new Map<string, SpeakerTurn[]>();
    for (const [recording, file] of files) turns.set(recording, await engine.diarize(file));
    const seconds = (performance.now() - begun) / 1000;
    return { turns, realTimeFactor: seconds / sum(files.map(([, { durationSeconds }]) => durationSeconds)) };
  } finally {
    await engine.close();
  }
}

/** With the number of speakers of a reference. */
async function fileOf(path: string, reference: readonly SpeakerTurn[] | null): Promise<FileToDiarize> {
  const durationSeconds = await durationOf(loadBinding(), POLICY, path);
  if (reference === null) return { path, durationSeconds };
  const speakers = Math.max(1, speakersOf(reference).length);
  return { path, durationSeconds, minSpeakers: speakers, maxSpeakers: speakers };
}

function recordingIn(directory: string, recording: string): string {
  const paths = AUDIO_EXTENSIONS.map((extension) => join(directory, recording + extension));
  const path = paths.find((candidate) => existsSync(candidate));
  if (path !== undefined) return path;
  throw new Error(`${directory} holds no audio of "${recording}" (${AUDIO_EXTENSIONS.join(', ')}).`);
}
