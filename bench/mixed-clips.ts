/**
 * Clips of many lengths for `verbatim bench`, joined out of the sentences of a directory, each in one language:
 *
 *   cmake --build build --target join_clips && npm run bench:mixed-clips -- DIR [--from DIR] [--count 60] [--shortest 2] [--longest 28] [--seed 1]
 *
 * Lengths are spread evenly; the same seed gives the same clips. --from names a directory with a refs.json: [{file, language}].
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readClips, type Clip } from './load/clips.js';
import { seededRandom, shuffled, type Random } from './load/random.js';

const root = resolve(__dirname, '..');

interface Plan {
  file: string;
  language: string;
  duration: number;
  /** Of one language, in the order in which they are said. */
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
export function planClips(clips: readonly Clip[], { count, shortest, longest, random }: MixOptions): Plan[] {
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

function write(directory: string, tool: string, plans: readonly Plan[]): void {
  mkdirSync(directory, { recursive: true });
  for (const { file, duration, sentences } of plans) {
    const run = spawnSync(tool, [join(directory, file), String(duration), ...sentences], {
      encoding: 'utf8',
    });
    if (run.status !== 0) throw new Error(`${tool} failed: ${run.stderr}`);
  }
  const list = plans.map(({ file, language, duration }) => ({ file, language, duration }));
  writeFileSync(join(directory, 'refs.json'), `${JSON.stringify(list, null, 2)}\n`);
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      from: { type: 'string', default: join(root, 'test', 'fixtures', 'audio', 'clips') },
      count: { type: 'string', default: '60' },
      shortest: { type: 'string', default: '2' },
      longest: { type: 'string', default: '28' },
      seed: { type: 'string', default: '1' },
    },
  });
  const [directory] = positionals;
  const tool = join(root, 'build', 'join_clips');
  if (directory === undefined) throw new Error('Name the directory to write the clips to.');
  if (!existsSync(tool))
    throw new Error(`${tool} is missing. Build it: cmake --build build --target join_clips`);
  const plans = planClips(readClips(values.from), {
    count: Number(values.count),
    shortest: Number(values.shortest),
    longest: Number(values.longest),
    random: seededRandom(Number(values.seed)),
  });
  write(directory, tool, plans);
  console.log(
    `${plans.length} clips, ${Math.round(plans.reduce((sum, plan) => sum + plan.duration, 0))} s, in ${directory}`,
  );
}

if (require.main === module) main();
