import { Option, type Command } from 'commander';
import { loadBinding } from '../../src/engine/binding.js';
import { readTimedClips, TIMED_CLIPS, type TimedClip } from '../../src/models/alignment/timed-clips.js';
import { VOICE_ACTIVITY } from '../../src/service/settings/audio.js';
import { UsageError } from '../../src/service/variables.js';
import { voiceActivityModel } from '../../src/service/voice-activity.js';
import { refuseGiven } from '../../src/cli/options.js';
import { decoderText } from '../engine/engine-cells.js';
import { voicedSpans } from '../engine/voiced-spans.js';
import { languageFor, type Clip } from '../load/clips.js';
import { engineWords, serverWords, type WordSource } from '../load/word-sources.js';
import { builtTool } from '../processes/built-tools.js';
import { identifyModel, type ModelIdentity } from '../reports/environment.js';
import type { Report, Shown } from '../reports/report.js';
import { unvoicedTable, wordTimeTable, type JudgedTranscript, type VoicedTranscript } from '../reports/word-times.js';
import type { BenchParts } from './parts.js';
import { decoderOf, modelNamed } from './bench-models.js';
import {
  addOutputOptions,
  benchContext,
  buildOption,
  clipsOf,
  languageOption,
  modelOption,
  progress,
  publish,
  type OutputOptions,
} from './setup.js';

interface Options extends OutputOptions {
  model?: string;
  clips: string;
  language: string;
  vad?: (typeof VOICE_ACTIVITY)[number];
  unvoiced?: string;
  build: string;
  url?: string;
  key?: string;
}

const DEVICES = ['cpu'];

export function addBenchWords(bench: Command, parts: BenchParts): void {
  const vad = new Option('--vad <detector>', 'what finds speech (default: as VERBATIM_VAD has it)');
  const command = bench
    .command('words')
    .description('times of recognised words against the reference')
    .addOption(modelOption())
    .requiredOption('--clips <dir>', TIMED_CLIPS)
    .addOption(languageOption())
    .addOption(vad.choices(VOICE_ACTIVITY))
    .option(
      '--unvoiced <file>',
      'judge by where this Silero model detects speech: which words begin elsewhere; the clips need no list',
    )
    .addOption(buildOption())
    .option('--url <url>', 'ask a running server, as clients do, instead of the engine in this process')
    .option('--key <key>', 'its API key; credits are used');
  addOutputOptions(command).action((options: Options) => benchWords(options, command, parts));
}

async function benchWords(options: Options, command: Command, parts: BenchParts): Promise<void> {
  const judged = options.unvoiced === undefined ? bySpokenWords : byVoice(options.unvoiced);
  const judge = judged(options);
  const { source, environment, models, settings } = await wordSourceOf(options, command, parts);
  try {
    const { tables, notes, measurements, clips } = await judge(source);
    const title = 'Word times';
    const all = { ...settings, clips, language: options.language };
    const facts = { warmUp: 'none', runs: 1, charts: [] };
    publish(
      { name: 'words', title, environment, models, settings: all, ...facts, tables, notes, measurements },
      options,
    );
  } finally {
    await source.close();
  }
}

type MeasuredSource = Pick<Report, 'environment' | 'models' | 'settings'> & { source: WordSource };

async function wordSourceOf(options: Options, command: Command, parts: BenchParts): Promise<MeasuredSource> {
  const { url, key } = options;
  if (url === undefined) {
    refuseGiven(command, ['key'], 'acts only with --url');
    return wordsOfEngine(options, parts);
  }
  refuseGiven(command, ['model', 'vad'], 'is for the engine in this process; a server has its own');
  if (key === undefined) throw new UsageError('--url needs --key.');
  const { environment } = benchContext();
  return { source: serverWords(url, key), environment, models: [], settings: { url } };
}

async function wordsOfEngine(options: Options, { createBenchEngine }: BenchParts): Promise<MeasuredSource> {
  const { config, roots, manifest, environment } = benchContext();
  const model = await modelNamed({ config, roots, manifest }, options.model);
  const { accelerator } = config;
  const voiceActivity = options.vad ?? config.voiceActivity;
  const detector = voiceActivityModel({ voiceActivity }, roots, manifest);
  const decoder = decoderOf(model, config, DEVICES);
  const cell = { modelPath: model.path, devices: DEVICES, slots: 1, threads: 1, beam: 1, decoder };
  const setting = { ...model, cell, accelerator, voiceActivityModel: detector };
  const models: ModelIdentity[] = [await identifyModel(model.name, model.path)];
  return {
    source: engineWords(await createBenchEngine(loadBinding(), setting)),
    environment,
    models,
    settings: {
      ...{ device: 'cpu', decoder: decoderText(decoder), accelerator },
      vad: detector === null ? 'energy' : 'silero',
    },
  };
}

type Judgement = Pick<Report, 'tables' | 'notes' | 'measurements'> & { clips: number };
/** Reads the clips first, so that faults in them are reported before anything is loaded. */
type Judge = (options: Options) => (source: WordSource) => Promise<Judgement>;

const bySpokenWords: Judge = ({ clips: directory, language }) => {
  const clips = readTimedClips(directory);
  return async (source) => {
    const transcripts: JudgedTranscript[] = [];
    for (const clip of clips) transcripts.push({ clip, words: await wordsIn(clip, language, source) });
    const known = ({ kind, voices, language }: TimedClip): Record<string, Shown> => ({
      kind,
      voices,
      language,
    });
    const tables = [
      wordTimeTable('By language', transcripts, ({ language }) => ({ language })),
      wordTimeTable('By kind of clip, voices and language', transcripts, known),
    ];
    return { tables, notes: SPOKEN_NOTES, measurements: transcripts, clips: clips.length };
  };
};

function byVoice(detector: string): Judge {
  return ({ clips: path, language, build }) => {
    const clips = clipsOf(path);
    const tool = builtTool(build, 'voiced_spans');
    const spans = voicedSpans(
      tool,
      detector,
      clips.map((clip) => clip.path),
    );
    return async (source) => {
      const transcripts: VoicedTranscript[] = [];
      for (const [index, clip] of clips.entries())
        transcripts.push({ clip, words: await wordsIn(clip, language, source), voiced: spans[index] ?? [] });
      const tables = [unvoicedTable('Words that begin where no speech is transcripts', transcripts)];
      return { tables, notes: VOICED_NOTES, measurements: transcripts, clips: clips.length };
    };
  };
}

function wordsIn(clip: Clip, language: string, source: WordSource): ReturnType<WordSource['wordsOf']> {
  progress(clip.path);
  return source.wordsOf(clip.path, languageFor(clip, language));
}

const SPOKEN_NOTES = [
  'Errors are of correctly recognised words, found by an alignment of fewest edits: median of their ' +
    'absolute values, and the value that 90 % do not exceed; "late" is the median with its sign, below zero where ' +
    'times run ahead.',
  'F1 counts a word when its text matches and its start and end both lie within the collar.',
  'Outside sound: words that begin more than 100 ms from any spoken word, of all recognised ones.',
];

const VOICED_NOTES = [
  'Unvoiced: words that begin more than 100 ms from where the judge detects speech, of all recognised ones. No floor ' +
    'of confidence is set, unless a server has its own.',
];
