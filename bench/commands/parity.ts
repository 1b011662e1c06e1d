import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Option, type Command } from 'commander';
import { readSpokenClips, type SpokenClip } from '../load/clips.js';
import {
  builtTool,
  DECODERS,
  transcribeWindows,
  whisperCli,
  whisperProgram,
  type CliLine,
  type DecoderName,
  type EngineLine,
} from '../processes/built-tools.js';
import { identifyModel } from '../reports/environment.js';
import { agrees, nearTieTables } from '../reports/near-ties.js';
import { type Table } from '../reports/report.js';
import { differingTables, differs, transcriptTable, type TranscriptPair } from '../reports/transcripts.js';
import { modelNamed, requireWhisper } from './bench-models.js';
import { addSpokenOptions, benchContext, buildOption, progress, publish, type SpokenOptions } from './setup.js';

interface Options extends SpokenOptions {
  build: string;
  decoder: DecoderName;
  compute?: string;
}

interface Setting {
  name: string;
  detect: boolean;
  beamSize: number;
  ownLength: boolean;
  /** The first decoding counts, whatever it is worth: no other temperature is tried. */
  plain: boolean;
}

/** The engine first. */
interface ComparedClip extends TranscriptPair {
  first: EngineLine;
  second: CliLine;
}

interface Compared {
  setting: Setting;
  pairs: ComparedClip[];
}

interface Programs {
  engine: string;
  cli: string;
  model: string;
  /** For the answers of whisper-cli. */
  directory: string;
  decoder: DecoderName;
  compute: string | undefined;
}

const COMPUTE_TYPES = ['float32', 'bfloat16', 'int8', 'auto'];

/** Of whisper.cpp itself, driven by the engine: the same numbers, so that fall-backs fall alike. */
const SAME_ARITHMETIC: readonly Setting[] = [
  { name: 'greedy, language detected', detect: true, beamSize: 1, ownLength: false, plain: false },
  { name: 'greedy, language given', detect: false, beamSize: 1, ownLength: false, plain: false },
  { name: 'greedy, language detected, own length', detect: true, beamSize: 1, ownLength: true, plain: false },
  { name: 'beam 5, language detected, own length', detect: true, beamSize: 5, ownLength: true, plain: false },
];
/** Of the batched decoder, whose numbers differ in their last digits. */
const OWN_ARITHMETIC: readonly Setting[] = [
  { name: 'greedy, language given', detect: false, beamSize: 1, ownLength: false, plain: true },
  { name: 'greedy, language detected, own length', detect: true, beamSize: 1, ownLength: true, plain: true },
  { name: 'beam 5, language given', detect: false, beamSize: 5, ownLength: false, plain: true },
  { name: 'beam 5, language detected, own length', detect: true, beamSize: 5, ownLength: true, plain: true },
];

const NOTES: Readonly<Record<DecoderName, readonly string[]>> = {
  'whisper.cpp': [
    'Both programs built from the same source, without the accelerator; the engine decodes all clips in one slot, ' +
      'whisper-cli each in a process of its own (its state carries things over from one file to the next).',
  ],
  batched: [
    'Eight windows in flight; without the accelerator unless the type is another than float32. Both decode at ' +
      'temperature 0 without fall-back and call no window silent; whisper-cli without flash attention, which attends ' +
      'to padding.',
    'A near tie: two choices, or text and all time stamps together, within 0.02 nats in the batched decoder. With ' +
      'beams, the least margin of any step; a draw has the margin by which logits would have to move for it to fall ' +
      'on another token.',
  ],
};

export function addBenchParity(bench: Command): void {
  const command = bench
    .command('parity')
    .description(
      "the same words as whisper.cpp's own whisper-cli, every clip (of at most 30 s) as one window: exit code 1 when " +
        'a text or a detected language differs; with the batched decoder, when more than 2 % do, or one that was no ' +
        'near tie',
    )
    .addOption(buildOption())
    .addOption(new Option('--decoder <name>', "the engine's decoder").choices(DECODERS).default('batched'))
    .addOption(new Option('--compute <type>', 'of the batched decoder (default: float32)').choices(COMPUTE_TYPES));
  addSpokenOptions(command).action(benchParity);
}

async function benchParity(options: Options): Promise<void> {
  const { decoder } = options;
  const compute = computeOf(options);
  const context = benchContext();
  const clips = readSpokenClips(options.clips);
  const model = await modelNamed(context, options.model);
  requireWhisper(model);
  const compared = compareAll(clips, options, model.path);
  publish(
    {
      name: 'parity',
      title: "The same words as whisper.cpp's own command line",
      environment: context.environment,
      models: [await identifyModel(model.name, model.path)],
      settings: { clips: clips.length, decoder, ...(compute === undefined ? {} : { compute }) },
      warmUp: 'none',
      runs: 1,
      tables: compared.flatMap(tablesOf),
      charts: [],
      notes: [...NOTES[decoder]],
      measurements: compared.map(({ setting, pairs }) => ({ name: setting.name, pairs })),
    },
    options,
  );
  if (!compared.every(isAsGood)) process.exitCode = 1;
}

/** What whisper.cpp computes in is its own affair. */
function computeOf({ decoder, compute }: Options): string | undefined {
  if (decoder === 'batched') return compute ?? 'float32';
  if (compute !== undefined) throw new Error('--compute is for --decoder batched.');
  return undefined;
}

function isAsGood({ setting, pairs }: Compared): boolean {
  return setting.plain ? agrees(pairs, setting.beamSize) : !pairs.some(differs);
}

function compareAll(clips: readonly SpokenClip[], options: Options, model: string): Compared[] {
  const { build, decoder } = options;
  const engine = builtTool(build, 'transcribe_windows');
  const cli = whisperProgram(build, 'whisper-cli');
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-'));
  const programs = { engine, cli, model, directory, decoder, compute: computeOf(options) };
  try {
    return (decoder === 'batched' ? OWN_ARITHMETIC : SAME_ARITHMETIC).map((setting) => {
      progress(setting.name);
      return { setting, pairs: compare(clips, setting, programs) };
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function compare(clips: readonly SpokenClip[], setting: Setting, programs: Programs): ComparedClip[] {
  const { cli, model, directory } = programs;
  const ours = throughEngine(clips, setting, programs);
  return clips.map((clip) => {
    const first = ours.get(clip.path);
    if (first === undefined) throw new Error(`no answer for ${clip.path}`);
    const language = setting.detect ? 'auto' : clip.language;
    const { audioContext } = first;
    const { beamSize, plain } = setting;
    const words = { model, language, beamSize, plain, audioContext };
    return { clip, first, second: whisperCli(cli, words, clip.path, directory) };
  });
}

/** One process a language: a given language is an option of the whole run. */
function throughEngine(
  clips: readonly SpokenClip[],
  setting: Setting,
  { engine, model, decoder, compute }: Programs,
): Map<string, EngineLine> {
  const lineByFile = new Map<string, EngineLine>();
  const languages = setting.detect ? ['auto'] : [...new Set(clips.map((clip) => clip.language))];
  for (const language of languages) {
    const group = clips.filter((clip) => language === 'auto' || clip.language === language);
    const files = group.map(({ path }) => path);
    const words = { model, language, ...setting, decoder, ...(compute === undefined ? {} : { compute }) };
    const lines = transcribeWindows(engine, words, files);
    for (const [index, line] of lines.entries()) lineByFile.set(files[index] ?? '', line);
  }
  return lineByFile;
}

function tablesOf({ setting, pairs }: Compared): Table[] {
  const { name: title, beamSize, plain } = setting;
  const columns = { title, first: 'Verbatim', second: 'whisper-cli' };
  return [
    transcriptTable(pairs, columns),
    ...differingTables(pairs, columns),
    ...(plain ? nearTieTables(title, pairs, beamSize, [columns.first, columns.second]) : []),
  ];
}
