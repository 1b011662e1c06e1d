/** The audio a benchmark runs on: a directory, with or without a list of what is spoken in it. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { NativeBinding, WindowPolicy } from '../../src/engine/binding.js';

export interface Clip {
  path: string;
  /** ISO 639-1; null where nobody says. */
  language: string | null;
}

/** A clip with its reference text. */
export interface SpokenClip extends Clip {
  language: string;
  text: string;
  /** How many; null where nobody says. */
  sentences: number | null;
  /** Whose; null where nobody says. */
  voices: string | null;
}

export interface MeasuredClip extends Clip {
  seconds: number;
}

interface Entry {
  file: string;
  language?: string;
  text?: string;
  sentences?: number;
  voices?: string;
}

/** [{file, language, text}] beside the clips. */
const LISTS = ['refs.json', 'references.json'];
export const AUDIO_EXTENSIONS = ['.wav', '.flac', '.mp3', '.ogg', '.oga', '.opus'];

/** The clips of a directory, or the one file. Throws an Error for none. */
export function readClips(path: string): Clip[] {
  if (!existsSync(path)) throw new Error(`There is no audio at ${path}.`);
  if (statSync(path).isFile()) return [{ path, language: null }];
  const entries = readList(path);
  const clips = entries === null ? listed(path) : entries.map((entry) => described(path, entry));
  if (clips.length === 0) {
    throw new Error(`${path} holds no audio files (${AUDIO_EXTENSIONS.join(', ')}).`);
  }
  return clips;
}

function listed(directory: string): Clip[] {
  return readdirSync(directory)
    .filter((name) => AUDIO_EXTENSIONS.includes(extname(name).toLowerCase()))
    .sort()
    .map((name) => ({ path: join(directory, name), language: null }));
}

/** null where a directory has no list. */
function readList(directory: string): Entry[] | null {
  const list = LISTS.map((name) => join(directory, name)).find((name) => existsSync(name));
  return list === undefined ? null : (JSON.parse(readFileSync(list, 'utf8')) as Entry[]);
}

function described(directory: string, { file, language }: Entry): Clip {
  return { path: join(directory, file), language: language ?? null };
}

/** The clips of a directory whose list says what is spoken in each. Throws an Error for any other. */
export function readSpokenClips(directory: string): SpokenClip[] {
  const clips = (readList(directory) ?? []).map((entry) => {
    const { language, text, sentences = null, voices = null } = entry;
    if (language === undefined || text === undefined)
      throw new Error(`${directory}: the list of the clips lacks language or text of ${entry.file}.`);
    return { path: join(directory, entry.file), language, text, sentences, voices };
  });
  if (clips.length > 0) return clips;
  throw new Error(`${directory} has no clips in a ${LISTS[0]}: [{file, language, text}].`);
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
