import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { VerbatimClient } from '../../src/client/index.js';
import { readSpokenClips, type SpokenClip } from '../load/clips.js';
import {
  builtTool,
  transcribeWindows,
  whisperCli,
  whisperProgram,
  type DecodingWords,
} from '../processes/built-tools.js';
import type { VerbatimOptions } from '../processes/verbatim-process.js';
import { identifyModel } from '../reports/environment.js';
import {
  transcriptTable,
  type Heard,
  type HeardTwice,
  type TranscriptColumns,
} from '../reports/transcripts.js';
import type { BenchParts } from './parts.js';
import { modelNamed, serving, type BenchModel } from './bench-models.js';
import { parakeetCli, textOfTokens } from '../processes/parakeet-cli.js';
import { UsageError } from '../../src/service/variables.js';
import {
  addSpokenOptions,
  benchContext,
  buildOption,
  progress,
  publish,
  type SpokenOptions,
} from './setup.js';

interface Options extends SpokenOptions {
  ownLength: boolean;
  build: string;
}

export function addBenchAccuracy(bench: Command, parts: BenchParts): void {
  const command = bench
    .command('accuracy')
    .description(
      "words wrong and languages right, over HTTP beside whisper.cpp's own whisper-cli; of a Parakeet model parakeet-cli",
    )
    .option(
      '--own-length',
      'whisper-cli encodes each clip at the length that the engine would take for it as one window, not at 30 s (needs transcribe_windows)',
      false,
    )
    .addOption(buildOption());
  addSpokenOptions(command).action((options: Options) => benchAccuracy(options, parts));
}

async function benchAccuracy(options: Options, parts: BenchParts): Promise<void> {
  const context = benchContext();
  const clips = readSpokenClips(options.clips);
  const model = await modelNamed(context, options.model);
  const peer = peerOf(model, options, clips);
  const served = await throughHttp(clips, serving(model, context.config), parts);
  const peers = peer.hear();
  const heard = clips.map((clip, index) => ({
    clip,
    first: served[index] ?? NOTHING,
    second: peers[index] ?? NOTHING,
  }));
  publish(
    {
      name: 'accuracy',
      title: 'Words wrong and languages right, over HTTP',
      environment: context.environment,
      models: [await identifyModel(model.name, model.path)],
      settings: { clips: clips.length, ...peer.settings },
      warmUp: 'none',
      runs: 1,
      tables: [transcriptTable(heard, { title: 'Clips', first: 'Verbatim', groupOf, ...peer.columns })],
      charts: [],
      notes: [
        `${peer.how}; the difference is in points, of Verbatim over ${peer.columns.second}.`,
        'Text of which a model is less sure than its manifest asks for is left out by Verbatim, which counts as words wrong.',
      ],
      measurements: heard,
    },
    options,
  );
}

const NOTHING: Heard = { language: '', text: '' };

function groupOf({ sentences, voices, language }: SpokenClip): Record<string, string> {
  const kind = sentences === null ? '-' : sentences === 1 ? 'one sentence' : 'many sentences';
  return { clips: kind, voices: voices ?? '-', language };
}

async function throughHttp(
  clips: readonly SpokenClip[],
  options: VerbatimOptions,
  { startVerbatim }: BenchParts,
): Promise<Heard[]> {
  const server = await startVerbatim(options);
  const client = new VerbatimClient({ baseUrl: server.url, apiKey: server.keys[0] ?? '' });
  try {
    const heard: Heard[] = [];
    for (const { path } of clips) {
      progress(path);
      const { language, text } = await client.transcribe({ audio: path });
      heard.push({ language, text });
    }
    return heard;
  } finally {
    await client.close();
    await server.stop();
  }
}

interface Peer {
  columns: Pick<TranscriptColumns<HeardTwice>, 'second' | 'secondTellsLanguage'>;
  settings: Readonly<Record<string, string>>;
  /** Both, in a sentence. */
  how: string;
  hear: () => Heard[];
}

/** What is not built, or not for the model, is said before anything is measured. */
function peerOf(model: BenchModel, options: Options, clips: readonly SpokenClip[]): Peer {
  if (model.family === 'parakeet') return parakeetPeer(model, options, clips);
  return {
    columns: { second: 'whisper-cli' },
    settings: { 'whisper-cli encodes': options.ownLength ? 'own length' : '30 s' },
    how: 'Both detect the language and decode greedily with fall-back',
    hear: whisperCliOf(options, model.path, clips),
  };
}

function parakeetPeer(
  { name, path }: BenchModel,
  { build, ownLength }: Options,
  clips: readonly SpokenClip[],
): Peer {
  if (ownLength) throw new UsageError(`--own-length is for Whisper models, and ${name} is none.`);
  const cli = whisperProgram(build, 'parakeet-cli');
  return {
    columns: { second: 'parakeet-cli', secondTellsLanguage: false },
    settings: {},
    how: 'Both decode greedily, Verbatim window by window, parakeet-cli a whole file at once',
    hear: () =>
      parakeetCli(
        cli,
        path,
        clips.map((clip) => clip.path),
      ).map((tokens) => ({
        language: '',
        text: textOfTokens(tokens).trim(),
      })),
  };
}

function whisperCliOf(
  { build, ownLength }: Options,
  model: string,
  clips: readonly SpokenClip[],
): () => Heard[] {
  const decoding: DecodingWords = { model, language: 'auto', beamSize: 1 };
  const cli = whisperProgram(build, 'whisper-cli');
  const windows = ownLength ? builtTool(build, 'transcribe_windows') : null;
  const files = clips.map(({ path }) => path);
  return () => {
    const lines = windows === null ? [] : transcribeWindows(windows, { ...decoding, ownLength }, files);
    const directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-'));
    try {
      return files.map((file, index) => {
        progress(`whisper-cli: ${file}`);
        const audioContext = lines[index]?.audioContext ?? 0;
        const { language, text } = whisperCli(cli, { ...decoding, audioContext }, file, directory);
        // Its segments begin with a space each.
        return { language, text: text.trim() };
      });
    } finally {
      rmSync(directory, { recursive: true });
    }
  };
}
