import { Option, type Command } from 'commander';
import { loadBinding, type AcceleratorMode } from '../../src/engine/binding.js';
import { transcribeClip } from '../engine/bench-engine.js';
import { readSpokenClips, type SpokenClip } from '../load/clips.js';
import { identifyModel } from '../reports/environment.js';
import { rounded, type Shown } from '../reports/report.js';
import { median, sum } from '../reports/statistics.js';
import {
  differingTables,
  errorDifference,
  groups,
  transcriptTable,
  type Heard,
  type HeardTwice,
} from '../reports/transcripts.js';
import type { SpeechDecoder } from '../../src/engine/speech/speech-models.js';
import { decoderText } from '../engine/engine-cells.js';
import type { BenchParts } from './parts.js';
import { type BenchModel, decoderOf, modelNamed } from './bench-models.js';
import { addSpokenOptions, benchContext, progress, publish, type SpokenOptions } from './setup.js';

interface Options extends SpokenOptions {
  accelerator: AcceleratorMode;
}

interface TimedHeard extends Heard {
  /** Time in the encoder, of each window. */
  encodeMs: number[];
}

/** Accelerated first. */
interface HeardBothWays extends HeardTwice {
  first: TimedHeard;
  second: TimedHeard;
}

const DEVICES = ['cpu'];

/** A language's error rate may differ by so much, in either direction. */
const TOLERANCE_POINTS = 0.2;

export function addBenchAccelerator(bench: Command, parts: BenchParts): void {
  const command = bench
    .command('accelerator')
    .description(
      `what the accelerator does to the text: exit code 1 when a language's word error rate differs by more than ${TOLERANCE_POINTS} points`,
    )
    .addOption(
      new Option('--accelerator <type>', 'what is held against off')
        .choices(['auto', 'float32'])
        .default('auto'),
    );
  addSpokenOptions(command).action((options: Options) => benchAccelerator(options, parts));
}

async function benchAccelerator(options: Options, parts: BenchParts): Promise<void> {
  const context = benchContext();
  const clips = readSpokenClips(options.clips);
  const model = await modelNamed(context, options.model);
  const decoder = decoderOf(model, context.config, DEVICES);
  const off = await transcribeAll({ ...model, decoder, accelerator: 'off' }, clips, parts);
  const on = await transcribeAll({ ...model, decoder, accelerator: options.accelerator }, clips, parts);
  const heard = clips.map((clip, index) => ({
    clip,
    first: answerOf(on, index),
    second: answerOf(off, index),
  }));
  const columns = { title: 'Clips', first: options.accelerator, second: 'off' };
  publish(
    {
      name: 'accelerator',
      title: 'What the accelerator does to the text',
      environment: context.environment,
      models: [await identifyModel(model.name, model.path)],
      settings: { device: 'cpu', decoder: decoderText(decoder), slots: 1, threads: 1, clips: clips.length },
      warmUp: 'none',
      runs: 1,
      tables: [
        transcriptTable(heard, {
          ...columns,
          more: (group) => ({ 'encoder, off / on': encoderRatio(group) }),
        }),
        ...differingTables(heard, columns),
      ],
      charts: [],
      notes: [
        `Cut as the model's window policy has it, the language detected; the difference is in points, allowed: ${TOLERANCE_POINTS}.`,
      ],
      measurements: heard,
    },
    options,
  );
  const languages = groups(heard, ({ language }) => language);
  const within = [...languages.values()].every(
    (group) => Math.abs(errorDifference(group)) <= TOLERANCE_POINTS,
  );
  if (!within) process.exitCode = 1;
}

function answerOf(heard: readonly TimedHeard[], index: number): TimedHeard {
  return heard[index] ?? { text: '', language: '', encodeMs: [] };
}

interface Subject extends BenchModel {
  decoder: SpeechDecoder;
  accelerator: AcceleratorMode;
}

async function transcribeAll(
  { path: modelPath, policy, languages, decoder, accelerator }: Subject,
  clips: readonly SpokenClip[],
  { createBenchEngine }: BenchParts,
): Promise<TimedHeard[]> {
  const cell = { modelPath, devices: DEVICES, slots: 1, threads: 1, beam: 1, decoder };
  let encodeMs: number[] = [];
  const observer = { windowDone: (window: { encodeMs: number }) => encodeMs.push(window.encodeMs) };
  const engine = await createBenchEngine(loadBinding(), { cell, policy, languages, accelerator }, observer);
  try {
    const heard: TimedHeard[] = [];
    for (const clip of clips) {
      progress(`${accelerator}: ${clip.path}`);
      encodeMs = [];
      const { text, language } = await transcribeClip(engine, clip, 'auto', 'bench');
      heard.push({ text, language, encodeMs });
    }
    return heard;
  } finally {
    await engine.close();
  }
}

/** Encoder time without the accelerator by that with it: median of the clips that were cut alike. */
function encoderRatio(heard: readonly HeardBothWays[]): Shown {
  const ratios = heard
    .filter(({ first, second }) => first.encodeMs.length === second.encodeMs.length)
    .map(({ first, second }) => sum(second.encodeMs) / sum(first.encodeMs));
  return ratios.length === 0 ? null : rounded(median(ratios));
}
