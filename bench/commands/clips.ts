import type { Command } from 'commander';
import { integerFrom, positiveNumber } from '../../src/cli/options.js';
import { planClips, writeClips } from '../load/clip-mix.js';
import { seededRandom } from '../load/random.js';
import { builtTool } from '../processes/built-tools.js';
import { sum } from '../reports/statistics.js';
import { buildOption, clipsOf, DEFAULT_CLIPS } from './setup.js';

interface Options {
  from: string;
  count: number;
  shortest: number;
  longest: number;
  seed: number;
  build: string;
}

export function addBenchClips(bench: Command): void {
  bench
    .command('clips')
    .description('clips of many lengths for the other commands, joined out of sentences; the same seed, the same clips')
    .argument('<directory>', 'where they are written, with a refs.json')
    .option('--from <dir>', 'sentences, with a refs.json: [{file, language}]', DEFAULT_CLIPS)
    .option('--count <n>', 'clips', integerFrom(1), 60)
    .option('--shortest <s>', 'seconds; the lengths are spread evenly', positiveNumber, 2)
    .option('--longest <s>', 'seconds', positiveNumber, 28)
    .option('--seed <n>', 'of sentences and order', integerFrom(0), 1)
    .addOption(buildOption())
    .action(benchClips);
}

function benchClips(directory: string, { from, count, shortest, longest, seed, build }: Options): void {
  if (longest < shortest) throw new Error(`--longest is ${longest}; allowed: from ${shortest}, the --shortest.`);
  const sentences = clipsOf(from);
  const tool = builtTool(build, 'join_clips');
  const clips = planClips(sentences, { count, shortest, longest, random: seededRandom(seed) });
  writeClips(directory, tool, clips);
  const seconds = Math.round(sum(clips.map(({ duration }) => duration)));
  console.log(`${clips.length} clips, ${seconds} s, in ${directory}`);
}
