/**
 * The evidence of the throughput figures in one run: every report of `verbatim bench` that needs no server of yours, into one
 * directory, with what to build said first.
 *
 *   npm run bench:throughput -- DIR [--quick] [--from DIR] [--models NAMES]
 *
 * --quick takes about ten minutes on two cores and says that all works, and roughly how fast; without it, hours (two of them
 * the mixed load), and the figures are to be quoted. --models adds models to compare, by comma: `build/make_model` writes ones
 * of the published shapes. --from is a directory with sentences and a refs.json.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const root = resolve(__dirname, '..');
const tsx = ['--import', 'tsx'];
const BUILT = ['build/join_clips', 'build/bin/whisper-server', 'build/bin/whisper-cli'];

interface Step {
  name: string;
  /** A script, and its words. */
  words: string[];
}

interface Preset {
  clips: number;
  engine: string[];
  tune: string[];
  compare: string[];
  overhead: string[];
  memory: string[];
}

const PRESETS: Record<'full' | 'quick', Preset> = {
  full: {
    clips: 60,
    engine: ['--slots', '1,2,4,8', '--threads', '1,2', '--rounds', '5'],
    tune: ['--pairs', '7', '--sweep', '3'],
    compare: ['--rounds', '5'],
    overhead: ['--rounds', '20'],
    memory: ['--minutes', '120'],
  },
  quick: {
    clips: 12,
    engine: ['--slots', '1,2', '--threads', '1,2', '--rounds', '1'],
    tune: ['--pairs', '2', '--sweep', '1'],
    compare: ['--rounds', '1', '--long-seconds', '300', '--short-clips', '8'],
    overhead: ['--rounds', '3'],
    memory: ['--slots', '1,2', '--repeat', '1', '--minutes', '1', '--sample-seconds', '2'],
  },
};

export function stepsOf(
  directory: string,
  preset: Preset,
  { from, models }: { from?: string | undefined; models?: string | undefined },
): Step[] {
  const clips = join(directory, 'clips');
  const bench = (name: string, words: readonly string[]): Step => ({
    name,
    words: [join(root, 'src', 'main.ts'), 'bench', name, '--output', directory, ...words],
  });
  const mix = ['--count', String(preset.clips), ...(from === undefined ? [] : ['--from', from])];
  return [
    { name: 'clips', words: [join(root, 'bench', 'mixed-clips.ts'), clips, ...mix] },
    bench('engine', ['--clips', clips, ...preset.engine]),
    bench('tune', ['--clips', clips, ...preset.tune, '--file', join(directory, 'verbatim.tuned.json')]),
    bench('compare', [
      ...['--clips', clips, ...preset.compare],
      ...(models === undefined ? [] : ['--model', models]),
    ]),
    bench('overhead', preset.overhead),
    bench('memory', preset.memory),
  ];
}

function run({ name, words }: Step): boolean {
  const start = performance.now();
  const { status } = spawnSync(process.execPath, [...tsx, ...words], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  console.error(
    `${name}: ${status === 0 ? 'done' : 'FAILED'} in ${((performance.now() - start) / 1000).toFixed(0)} s`,
  );
  return status === 0;
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quick: { type: 'boolean' }, from: { type: 'string' }, models: { type: 'string' } },
  });
  const [directory] = positionals;
  if (directory === undefined) throw new Error('Name the directory to write the reports to.');
  const missing = BUILT.filter((path) => !existsSync(join(root, path)));
  if (missing.length > 0) {
    throw new Error(
      `Missing: ${missing.join(', ')}. Build them: cmake --build build --target join_clips whisper-server whisper-cli`,
    );
  }
  const preset = PRESETS[values.quick === true ? 'quick' : 'full'];
  // A step that fails does not keep the others from being run.
  const failed = stepsOf(resolve(directory), preset, values).filter((step) => !run(step));
  process.exitCode = failed.length === 0 ? 0 : 1;
}

if (require.main === module) main();
