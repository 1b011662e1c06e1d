/** Clips with known word times, to measure the error of word times. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SpokenWord {
  word: string;
  /** Seconds on the clip's time line. */
  start: number;
  end: number;
}

export interface TimedClip {
  path: string;
  /** ISO 639-1. */
  language: string;
  text: string;
  /** The kind of the clip ('sentence', 'piece') and its voice; null: unknown. */
  kind: string | null;
  voices: string | null;
  /** In order. */
  words: SpokenWord[];
}

export const TIMED_LIST = 'words.json';

/** Used in the help of options. */
export const TIMED_CLIPS = `audio files with a ${TIMED_LIST}: [{file, language, text, words: [{word, start, end}]}]`;

/** Reads the clips of a directory, in the order of its list. Throws an Error that says what is wrong with the list. */
export function readTimedClips(directory: string): TimedClip[] {
  const path = join(directory, TIMED_LIST);
  if (!existsSync(path)) throw new Error(`${directory} is not ${TIMED_CLIPS}.`);
  const list = JSON.parse(readFileSync(path, 'utf8')) as unknown;
  if (!Array.isArray(list) || list.length === 0) throw new Error(`${path} lists no clips.`);
  return list.map((entry, index) => timedClip(directory, entry as Entry, `${path}, clip ${index}`));
}

type Entry = Partial<Omit<TimedClip, 'path'>> & { file?: string };

function timedClip(directory: string, entry: Entry, place: string): TimedClip {
  const { file, language, text, kind = null, voices = null, words } = entry;
  if (file === undefined || language === undefined || text === undefined || !Array.isArray(words))
    throw new Error(`${place} lacks file, language, text or words.`);
  words.forEach(({ word, start, end }, index) => {
    const before = words[index - 1]?.start ?? 0;
    if (typeof word !== 'string' || !(start >= before) || !(end >= start))
      throw new Error(`${place}: word ${index} lacks its text, or its times are not in order.`);
  });
  return { path: join(directory, file), language, text, kind, voices, words };
}
