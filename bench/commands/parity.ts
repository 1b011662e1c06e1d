import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { readSpokenClips, type SpokenClip } from '../load/clips.js';
import {
  builtTool,
  transcribeWindows,
  whisperCli,
  whisperProgram,
  type EngineLine,
} from '../processes/built-tools.js';
import { identifyModel } from '../reports/environment.js';
import { rounded } from '../reports/report.js';
import { sum } from '../reports/statistics.js';
import { differingTables, differs, transcriptTable, type HeardTwice } from '../reports/transcripts.js';
import {
  addSpokenOptions,
  benchContext,
  buildOption,
  modelNamed,
  progress,
  publish,
  type SpokenOptions,
} from './setup.js';

interface Options extends SpokenOptions {
  build: string;
}

interface Setting {
  name: string;
  detect: boolean;
  beamSize: number;
  ownLength: boolean;
}

/** The engine first. */
interface HeardByBoth extends HeardTwice {
  first: EngineLine;
}

interface Programs {
  engine: string;
  cli: string;
  model: string;
  /** For the answers of whisper-cli. */
  directory: string;
}

const SETTINGS: readonly Setting[] = [
  { name: 'greedy, language detected', detect: true, beamSize: 1, ownLength: false },
  { name: 'greedy, language given', detect: false, beamSize: 1, ownLength: false },
  { name: 'greedy, language detected, own length', detect: true, beamSize: 1, ownLength: true },
  { name: 'beam 5, language detected, own length', detect: true, beamSize: 5, ownLength: true },
];

export function addBenchParity(bench: Command): void {
  const command = bench
    .command('parity')
    .description(
      "the same words as whisper.cpp's own whisper-cli, every clip (of at most 30 s) as one window: exit code 1 when a text or a detected language differs",
    )
    .addOption(buildOption());
  addSpokenOptions(command).action(benchParity);
}

async function benchParity(options: Options): Promise<void> {
  const context = benchContext();
  const clips = readSpokenClips(options.clips);
  const model = modelNamed(context, options.model);
  const compared = compareAll(clips, options, model.path);
  publish(
    {
      name: 'parity',
      title: "The same words as whisper.cpp's own command line",
      environment: context.environment,
      models: [await identifyModel(model.name, model.path)],
      settings: { clips: clips.length },
      warmUp: 'none',
      runs: 1,
      tables: compared.flatMap(({ name, heard }) => tablesOf(name, heard)),
      charts: [],
      notes: [
        'Both programs built from the same source, without the accelerator; the engine decodes all clips in one slot, whisper-cli each in a process of its own (its state carries things over from one file to the next).',
      ],
      measurements: compared,
    },
    options,
  );
  if (compared.some(({ heard }) => heard.some(differs))) process.exitCode = 1;
}

function compareAll(
  clips: readonly SpokenClip[],
  { build }: Options,
  model: string,
): { name: string; heard: HeardByBoth[] }[] {
  const engine = builtTool(build, 'transcribe_windows');
  const cli = whisperProgram(build, 'whisper-cli');
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-'));
  try {
    return SETTINGS.map((setting) => {
      progress(setting.name);
      return { name: setting.name, heard: compare(clips, setting, { engine, cli, model, directory }) };
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function compare(clips: readonly SpokenClip[], setting: Setting, programs: Programs): HeardByBoth[] {
  const { cli, model, directory } = programs;
  const ours = throughEngine(clips, setting, programs);
  return clips.map((clip) => {
    const first = ours.get(clip.path);
    if (first === undefined) throw new Error(`no answer for ${clip.path}`);
    const language = setting.detect ? 'auto' : clip.language;
    const { audioContext } = first;
    const words = { model, language, beamSize: setting.beamSize, audioContext };
    return { clip, first, second: whisperCli(cli, words, clip.path, directory) };
  });
}

/** One process a language: a given language is an option of the whole run. */
function throughEngine(
  clips: readonly SpokenClip[],
  setting: Setting,
  { engine, model }: Programs,
): Map<string, EngineLine> {
  const heard = new Map<string, EngineLine>();
  const languages = setting.detect ? ['auto'] : [...new Set(clips.map((clip) => clip.language))];
  for (const language of languages) {
    const group = clips.filter((clip) => language === 'auto' || clip.language === language);
    const files = group.map(({ path }) => path);
    const lines = transcribeWindows(engine, { model, language, ...setting }, files);
    for (const [index, line] of lines.entries()) heard.set(files[index] ?? '', line);
  }
  return heard;
}

function tablesOf(title: string, heard: readonly HeardByBoth[]): ReturnType<typeof differingTables> {
  const columns = { title, first: 'Verbatim', second: 'whisper-cli' };
  const passes = (group: readonly HeardByBoth[]): number =>
    sum(group.map(({ first }) => first.encoderPasses)) / group.length;
  return [
    transcriptTable(heard, {
      ...columns,
      more: (group) => ({ 'encoder passes a window': rounded(passes(group)) }),
    }),
    ...differingTables(heard, columns),
  ];
}
