/** The audio a benchmark runs on: a directory, with or without a list of what is spoken in it. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { NativeBinding, WindowPolicy } from '../../src/engine/binding.js';

export interface Clip {
  path: string;
  /** ISO 639-1; null where nobody says. */
  language: string | null;
}

export interface MeasuredClip extends Clip {
  seconds: number;
}

/** [{file, language}] beside the clips. */
const LISTS = ['refs.json', 'references.json'];
const EXTENSIONS = new Set(['.wav', '.flac', '.mp3', '.ogg', '.oga', '.opus']);

/** The clips of a directory, or the one file. Throws an Error for none. */
export function readClips(path: string): Clip[] {
  if (!existsSync(path)) throw new Error(`There is no audio at ${path}.`);
  if (statSync(path).isFile()) return [{ path, language: null }];
  const list = LISTS.map((name) => join(path, name)).find((name) => existsSync(name));
  const clips = list === undefined ? listed(path) : described(path, list);
  if (clips.length === 0) {
    throw new Error(`${path} holds no audio files (${[...EXTENSIONS].join(', ')}).`);
  }
  return clips;
}

function listed(directory: string): Clip[] {
  return readdirSync(directory)
    .filter((name) => EXTENSIONS.has(extname(name).toLowerCase()))
    .sort()
    .map((name) => ({ path: join(directory, name), language: null }));
}

function described(directory: string, list: string): Clip[] {
  const entries = JSON.parse(readFileSync(list, 'utf8')) as { file: string; language?: string }[];
  return entries.map(({ file, language }) => ({ path: join(directory, file), language: language ?? null }));
}

/** What a request says of a clip's language: `wanted` is a code, 'auto', or 'given' (by the list of the clips). */
export function languageFor({ language }: Clip, wanted: string): string {
  return wanted === 'given' ? (language ?? 'auto') : wanted;
}

/** With their exact durations. */
export async function measureClips(
  binding: Pick<NativeBinding, 'openAudio'>,
  policy: WindowPolicy,
  clips: readonly Clip[],
): Promise<MeasuredClip[]> {
  const measured: MeasuredClip[] = [];
  for (const clip of clips) measured.push({ ...clip, seconds: await durationOf(binding, policy, clip.path) });
  return measured;
}

/** Seconds of audio the file really holds; rejects as `openAudio` and `measure` do. */
export async function durationOf(
  binding: Pick<NativeBinding, 'openAudio'>,
  policy: WindowPolicy,
  path: string,
): Promise<number> {
  const reader = await binding.openAudio(path, policy);
  try {
    for (;;) {
      const seconds = await reader.measure();
      if (seconds !== null) return seconds;
    }
  } finally {
    reader.close();
  }
}
