import type { Command } from 'commander';
import { loadBinding, type AcceleratorMode, type WindowResult } from '../../src/engine/binding.js';
import { confidentResults } from '../../src/engine/speech/confidence.js';
import { transcribeClip } from '../engine/bench-engine.js';
import { keepingResults } from '../engine/windows.js';
import { readSpokenClips, type SpokenClip } from '../load/clips.js';
import { identifyModel } from '../reports/environment.js';
import { rounded, type Table } from '../reports/report.js';
import { WordErrorRate, wordErrors } from '../reports/wer.js';
import type { SpeechDecoder } from '../../src/engine/speech/speech-models.js';
import { decoderText } from '../engine/engine-cells.js';
import type { BenchParts } from './parts.js';
import { type BenchModel, decoderOf, modelNamed } from './bench-models.js';
import {
  addOutputOptions,
  benchContext,
  modelOption,
  progress,
  publish,
  SPOKEN_CLIPS,
  type OutputOptions,
} from './setup.js';

interface Options extends OutputOptions {
  model?: string;
  known: string;
  unknown: string;
}

interface Decoded extends SpokenClip {
  /** Of its windows, in their order. */
  results: WindowResult[];
}

/** null: none. */
const FLOORS = [null, -0.15, -0.2, -0.22, -0.24, -0.25, -0.26, -0.27, -0.28, -0.29, -0.3, -0.32, -0.35, -0.4];

const DEVICES = ['cpu'];

export function addBenchConfidence(bench: Command, parts: BenchParts): void {
  const command = bench
    .command('confidence')
    .description(
      'how sure a model is of clips that it knows and of clips that it does not: what minAverageLogProbability of the manifest is chosen by',
    )
    .addOption(modelOption())
    .requiredOption(
      '--known <dir>',
      `what the model is made for: ${SPOKEN_CLIPS}; those without text do not count`,
    )
    .requiredOption('--unknown <dir>', 'what it cannot know, likewise');
  addOutputOptions(command).action((options: Options) => benchConfidence(options, parts));
}

async function benchConfidence(options: Options, parts: BenchParts): Promise<void> {
  const context = benchContext();
  const { accelerator } = context.config;
  const [known, unknown] = [options.known, options.unknown].map(withText);
  const named = await modelNamed(context, options.model);
  const model = { ...named, decoder: decoderOf(named, context.config, DEVICES), accelerator };
  const decoded = {
    known: await decodeAll(model, known ?? [], parts),
    unknown: await decodeAll(model, unknown ?? [], parts),
  };
  publish(
    {
      name: 'confidence',
      title: 'What a floor of confidence would leave out',
      environment: context.environment,
      models: [await identifyModel(model.name, model.path)],
      settings: {
        ...{ device: 'cpu', decoder: decoderText(model.decoder), accelerator },
        ...{ known: decoded.known.length, unknown: decoded.unknown.length },
        'known, WER %': rounded(errorRate(decoded.known, null)),
      },
      warmUp: 'none',
      runs: 1,
      tables: [floorTable(decoded)],
      charts: [],
      notes: [
        'For each floor: the part of the unknown clips that get any text, the part of the known ones that lose some, and by how many points their word error rate moves.',
      ],
      measurements: decoded,
    },
    options,
  );
}

function withText(directory: string): SpokenClip[] {
  return readSpokenClips(directory).filter(({ text }) => text !== '');
}

interface Subject extends BenchModel {
  decoder: SpeechDecoder;
  accelerator: AcceleratorMode;
}

/** As `serve` runs it, but without a floor. */
async function decodeAll(
  { path: modelPath, policy, languages, decoder, accelerator }: Subject,
  clips: readonly SpokenClip[],
  { createBenchEngine }: BenchParts,
): Promise<Decoded[]> {
  const cell = { modelPath, devices: DEVICES, slots: 1, threads: 1, beam: 1, decoder };
  const results = new Map<number, WindowResult>();
  const binding = keepingResults(loadBinding(), results);
  const engine = await createBenchEngine(binding, { cell, policy, languages, accelerator });
  try {
    const decoded: Decoded[] = [];
    for (const clip of clips) {
      progress(clip.path);
      results.clear();
      await transcribeClip(engine, clip, 'auto', 'bench');
      const ordered = [...results].sort(([one], [other]) => one - other).map(([, result]) => result);
      decoded.push({ ...clip, results: ordered });
    }
    return decoded;
  } finally {
    await engine.close();
  }
}

function floorTable({ known, unknown }: Record<'known' | 'unknown', readonly Decoded[]>): Table {
  const before = errorRate(known, null);
  const rows = FLOORS.map((floor) => ({
    floor: floor ?? 'none',
    'unknown with text %': share(unknown, (clip) => textAt(clip, floor) !== ''),
    'known that lose text %': share(known, (clip) => textAt(clip, floor) !== textAt(clip, null)),
    'points of word error rate': rounded(errorRate(known, floor) - before),
  }));
  return { title: 'Floors', rows };
}

function share(clips: readonly Decoded[], is: (clip: Decoded) => boolean): number {
  return rounded((100 * clips.filter(is).length) / Math.max(1, clips.length));
}

function textAt({ results }: Decoded, floor: number | null): string {
  const segments = confidentResults(results, floor).flatMap((result) => result.segments);
  return segments
    .map(({ text }) => text.trim())
    .join(' ')
    .trim();
}

function errorRate(clips: readonly Decoded[], floor: number | null): number {
  const rate = new WordErrorRate();
  for (const clip of clips) rate.add(wordErrors(clip.text, textAt(clip, floor)));
  return rate.percent;
}
