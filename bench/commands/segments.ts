import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import { loadBinding, type VoiceActivityModel } from '../../src/engine/binding.js';
import { integerFrom } from '../../src/cli/options.js';
import { findModel } from '../../src/models/manifest.js';
import { voiceActivityModel } from '../../src/service/voice-activity.js';
import { cutFile, judge, total, type CutFile, type Judged } from '../engine/segments.js';
import { voicedSpans } from '../engine/voiced-spans.js';
import { seededRandom } from '../load/random.js';
import { scenesOfClips, scenesWithRttm, withNoise, type Scene } from '../load/scenes.js';
import { builtTool } from '../processes/built-tools.js';
import { identifyModel } from '../reports/environment.js';
import type { Interval } from '../reports/intervals.js';
import { rounded, type Table } from '../reports/report.js';
import { sum } from '../reports/statistics.js';
import {
  addOutputOptions,
  benchContext,
  buildOption,
  clipsOf,
  clipsOption,
  progress,
  publish,
  type OutputOptions,
} from './setup.js';

const DETECTORS = ['silero', 'energy'] as const;
type Detector = (typeof DETECTORS)[number];

interface Options extends OutputOptions {
  clips: string;
  rttm?: string;
  agree?: string;
  vad: Detector[];
  noiseDb: number[];
  seed: number;
  build: string;
}

/** Files with what is spoken in them. */
interface Source {
  name: string;
  noiseDb: number | null;
  scenes: Scene[];
}

interface Cell {
  source: string;
  noiseDb: number | null;
  vad: Detector;
  windows: string;
  files: (Judged & { file: string; processorSeconds: number; audioSeconds: number; longestCall: number })[];
}

type Voices = Map<Detector, VoiceActivityModel | null>;

export function addBenchSegments(bench: Command): void {
  const command = bench
    .command('segments')
    .description('what the segmenter cuts out: speech that it misses, and how much else it lets through')
    .addOption(clipsOption())
    .option('--rttm <dir>', 'recordings, each with an RTTM file of its name beside it')
    .option('--agree <dir>', 'recordings without a reference, compared with Silero')
    .option('--vad <list>', 'silero, energy, or both', detectors, ['energy'] satisfies Detector[])
    .option('--noise-db <list>', 'pink noise, so much below the speech; once without any', decibels, [15, 5])
    .option('--seed <n>', 'of order, silences and noise', integerFrom(0), 1)
    .addOption(buildOption());
  addOutputOptions(command).action(benchSegments);
}

function detectors(list: string): Detector[] {
  return list.split(',').map((name) => {
    const known = DETECTORS.find((detector) => detector === name);
    if (known === undefined) throw new InvalidArgumentError(`allowed: ${DETECTORS.join(', ')}.`);
    return known;
  });
}

function decibels(list: string): number[] {
  if (list === '') return [];
  return list.split(',').map((value) => {
    const number = Number(value);
    if (/^-?\d+$/.test(value) && Math.abs(number) <= 60) return number;
    throw new InvalidArgumentError('allowed: integers from -60 to 60, separated by commas.');
  });
}

async function benchSegments(options: Options): Promise<void> {
  const context = benchContext();
  const { roots, manifest } = context;
  const clips = clipsOf(options.clips);
  const recordings = options.agree === undefined ? [] : clipsOf(options.agree).map(({ path }) => path);
  const tool = builtTool(options.build, 'make_scene');
  const judgeTool = recordings.length === 0 ? null : builtTool(options.build, 'voiced_spans');
  const needsSilero = options.vad.includes('silero') || recordings.length > 0;
  const path = needsSilero ? voiceActivityModel({ voiceActivity: 'silero' }, roots, manifest) : null;
  const silero = path === null ? null : await loadBinding().loadVoiceActivityModel(path);
  const voices: Voices = new Map(options.vad.map((vad) => [vad, vad === 'silero' ? silero : null]));
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-scenes-'));
  const cells: Cell[] = [];
  const agreements: Record<string, string | number>[] = [];
  try {
    for (const noiseDb of [null, ...options.noiseDb]) {
      const make = { tool, directory, noise: { decibelsBelow: noiseDb, seed: options.seed } };
      const sources: Source[] = [
        { name: 'clips', noiseDb, scenes: scenesOfClips(clips, seededRandom(options.seed), make) },
      ];
      if (options.rttm !== undefined) {
        const scenes = scenesWithRttm(options.rttm).map((scene) => withNoise(scene, make));
        sources.push({ name: 'rttm', noiseDb, scenes });
      }
      for (const source of sources) cells.push(...(await judgeAll(source, voices, manifest.windowPolicies)));
    }
    if (path !== null && judgeTool !== null) {
      const voiced = voicedSpans(judgeTool, path, recordings);
      agreements.push(...(await agreement(recordings, voiced, manifest.windowPolicies)));
    }
  } finally {
    silero?.close();
    rmSync(directory, { recursive: true });
  }
  publish(
    {
      name: 'segments',
      title: 'What the segmenter cuts out',
      environment: context.environment,
      models: path === null ? [] : [await identifyModel(findModel(manifest, 'silero-vad').name, path)],
      settings: { clips: clips.length, recordings: recordings.length, seed: options.seed },
      warmUp: 'none',
      runs: 1,
      tables: tablesOf(cells, agreements),
      charts: [],
      notes: [
        'Missed: the part of the speech that lies outside all windows. Cover: the length of all windows, divided by ' +
          'the length of the speech.',
        'Clips are cut to their sound and stand between silences of 0.3 to 3 s. In RTTM, turns are speech.',
      ],
      measurements: cells,
    },
    options,
  );
}

type Policies = ReturnType<typeof benchContext>['manifest']['windowPolicies'];

async function judgeAll({ name, noiseDb, scenes }: Source, voices: Voices, policies: Policies): Promise<Cell[]> {
  const cells: Cell[] = [];
  for (const [vad, voice] of voices) {
    for (const [windows, policy] of Object.entries(policies)) {
      progress(`${name}, noise ${noiseDb ?? 'none'}, ${vad}, ${windows}`);
      const files = [];
      for (const { path, spoken } of scenes) {
        const cut = await cutFile(path, { binding: loadBinding(), policy, voice });
        files.push({ file: basename(path), ...judge(spoken, cut.windows), ...costOf(cut) });
      }
      cells.push({ source: name, noiseDb, vad, windows, files });
    }
  }
  return cells;
}

function costOf({ processorSeconds, seconds: audioSeconds, longestCall }: CutFile): {
  processorSeconds: number;
  audioSeconds: number;
  longestCall: number;
} {
  return { processorSeconds, audioSeconds, longestCall };
}

/** What Silero calls speech is the reference. */
async function agreement(
  paths: readonly string[],
  voiced: readonly Interval[][],
  policies: Policies,
): Promise<Record<string, string | number>[]> {
  const rows = [];
  for (const [windows, policy] of Object.entries(policies)) {
    const judged: Judged[] = [];
    let seconds = 0;
    for (const [index, path] of paths.entries()) {
      progress(`agreement, ${windows}: ${path}`);
      const cut = await cutFile(path, { binding: loadBinding(), policy, voice: null });
      judged.push(judge(voiced[index] ?? [], cut.windows));
      seconds += cut.seconds;
    }
    const all = total(judged);
    rows.push({
      windows,
      files: paths.length,
      'Silero finds speech in % of the audio': percent(all.reference, seconds),
      'windows by energy hold %': percent(all.windows, seconds),
      ...shown(all),
    });
  }
  return rows;
}

function tablesOf(cells: readonly Cell[], agreements: Record<string, string | number>[]): Table[] {
  const named = ({ source, noiseDb, vad, windows }: Cell): Record<string, string | number> => ({
    ...{ source, 'noise dB': noiseDb ?? 'none', vad, windows },
  });
  const overall = cells.map((cell) => ({
    ...named(cell),
    ...shown(total(cell.files)),
    'processor ms a minute': rounded(
      (60_000 * sum(cell.files.map(({ processorSeconds }) => processorSeconds))) /
        sum(cell.files.map(({ audioSeconds }) => audioSeconds)),
    ),
    'longest call ms': rounded(1000 * Math.max(...cell.files.map(({ longestCall }) => longestCall))),
  }));
  const byFile = cells
    .filter(({ source, noiseDb }) => source === 'rttm' && noiseDb === null)
    .flatMap((cell) => cell.files.map((file) => ({ file: file.file, ...named(cell), ...shown(file) })));
  return [
    { title: 'In all', rows: overall },
    ...(byFile.length === 0 ? [] : [{ title: 'By recording', rows: byFile }]),
    ...(agreements.length === 0
      ? []
      : [{ title: 'Windows by energy beside what Silero calls speech', rows: agreements }]),
  ];
}

function shown({ reference, missed, windows }: Judged): Record<string, number> {
  return {
    'spoken s': rounded(reference),
    'missed %': percent(missed, reference),
    cover: rounded(windows / reference),
  };
}

function percent(part: number, whole: number): number {
  return Math.round((10_000 * part) / whole) / 100;
}
