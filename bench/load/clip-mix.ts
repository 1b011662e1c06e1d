/** Clips of many lengths, joined out of the sentences of others, each in one language. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clip } from './clips.js';
import { shuffled, type Random } from './random.js';

export interface MixedClip {
  file: string;
  language: string;
  /** Seconds. */
  duration: number;
  /** Paths, of one language, in their order. */
  sentences: string[];
}

export interface MixOptions {
  count: number;
  /** Seconds. */
  shortest: number;
  longest: number;
  random: Random;
}

/** Languages take turns; lengths are spread evenly over the range and come in any order. */
export function planClips(clips: readonly Clip[], { count, shortest, longest, random }: MixOptions): MixedClip[] {
  const byLanguage = new Map<string, string[]>();
  for (const { path, language } of clips) {
    if (language === null) continue;
    byLanguage.set(language, [...(byLanguage.get(language) ?? []), path]);
  }
  const languages = [...byLanguage].sort(([a], [b]) => a.localeCompare(b));
  if (languages.length === 0) throw new Error('No clip says its language; a refs.json is needed.');
  const step = (longest - shortest) / Math.max(1, count - 1);
  const lengths = shuffled(
    random,
    Array.from({ length: count }, (_, index) => shortest + step * index),
  );
  return lengths.map((duration, index) => {
    const [language, paths] = languages[index % languages.length] ?? ['', []];
    const file = `mixed-${String(index).padStart(3, '0')}-${language}.wav`;
    return { file, language, duration: Number(duration.toFixed(3)), sentences: shuffled(random, paths) };
  });
}

/** With their refs.json; `tool` is the program join_clips. */
export function writeClips(directory: string, tool: string, clips: readonly MixedClip[]): void {
  mkdirSync(directory, { recursive: true });
  for (const { file, duration, sentences } of clips) {
    const run = spawnSync(tool, [join(directory, file), String(duration), ...sentences], {
      encoding: 'utf8',
    });
    if (run.status !== 0) throw new Error(`${tool} failed: ${run.stderr}`);
  }
  const list = clips.map(({ file, language, duration }) => ({ file, language, duration }));
  writeFileSync(join(directory, 'refs.json'), `${JSON.stringify(list, null, 2)}\n`);
}
