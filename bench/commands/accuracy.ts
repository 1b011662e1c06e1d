import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { VerbatimClient } from '../../src/client/index.js';
import { readSpokenClips, type SpokenClip } from '../load/clips.js';
import { whisperCli, whisperProgram } from '../processes/built-tools.js';
import type { VerbatimOptions } from '../processes/verbatim-process.js';
import { identifyModel } from '../reports/environment.js';
import { transcriptTable, type WrittenTranscript, type TranscriptColumns } from '../reports/transcripts.js';
import type { BenchParts } from './parts.js';
import { modelNamed, serving, type BenchModel } from './bench-models.js';
import { parakeetCli, textOfTokens } from '../processes/parakeet-cli.js';
import { addSpokenOptions, benchContext, buildOption, progress, publish, type SpokenOptions } from './setup.js';

/** Of the encoder's positions: whisper-cli encodes 30 s, however short the clip is. */
const ALL = 0;

interface Options extends SpokenOptions {
  build: string;
}

export function addBenchAccuracy(bench: Command, parts: BenchParts): void {
  const command = bench
    .command('accuracy')
    .description(
      "words wrong and languages right, over HTTP beside whisper.cpp's own whisper-cli; of a Parakeet model " +
        'parakeet-cli',
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
  const peers = peer.transcribe();
  const pairs = clips.map((clip, index) => ({
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
      tables: [transcriptTable(pairs, { title: 'Clips', first: 'Verbatim', groupOf, ...peer.columns })],
      charts: [],
      notes: [
        `${peer.how}; the difference is in points, of Verbatim over ${peer.columns.second}.`,
        'Verbatim leaves out text whose confidence is below the least that the manifest sets for the model. Its words ' +
          'count as wrong.',
      ],
      measurements: pairs,
    },
    options,
  );
}

const NOTHING: WrittenTranscript = { language: '', text: '' };

function groupOf({ sentences, voices, language }: SpokenClip): Record<string, string> {
  const kind = sentences === null ? '-' : sentences === 1 ? 'one sentence' : 'many sentences';
  return { clips: kind, voices: voices ?? '-', language };
}

async function throughHttp(
  clips: readonly SpokenClip[],
  options: VerbatimOptions,
  { startVerbatim }: BenchParts,
): Promise<WrittenTranscript[]> {
  const server = await startVerbatim(options);
  const client = new VerbatimClient({ baseUrl: server.url, apiKey: server.keys[0] ?? '' });
  try {
    const transcripts: WrittenTranscript[] = [];
    for (const { path } of clips) {
      progress(path);
      const { language, text } = await client.transcribe({ audio: path });
      transcripts.push({ language, text });
    }
    return transcripts;
  } finally {
    await client.close();
    await server.stop();
  }
}

interface Peer {
  columns: Pick<TranscriptColumns, 'second' | 'secondShowsLanguage'>;
  settings: Readonly<Record<string, string>>;
  /** Both, in a sentence. */
  how: string;
  transcribe: () => WrittenTranscript[];
}

/** What is not built, or not for the model, is reported before anything is measured. */
function peerOf(model: BenchModel, options: Options, clips: readonly SpokenClip[]): Peer {
  if (model.family === 'parakeet') return parakeetPeer(model, options, clips);
  return {
    columns: { second: 'whisper-cli' },
    settings: { 'whisper-cli encodes': '30 s' },
    how: 'Both detect the language and decode greedily with fall-back',
    transcribe: whisperCliOf(options, model.path, clips),
  };
}

function parakeetPeer({ path }: BenchModel, { build }: Options, clips: readonly SpokenClip[]): Peer {
  const cli = whisperProgram(build, 'parakeet-cli');
  return {
    columns: { second: 'parakeet-cli', secondShowsLanguage: false },
    settings: {},
    how: 'Both decode greedily, Verbatim window by window, parakeet-cli a whole file at once',
    transcribe: () =>
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

function whisperCliOf({ build }: Options, model: string, clips: readonly SpokenClip[]): () => WrittenTranscript[] {
  const decoding = { model, language: 'auto', beamSize: 1, audioContext: ALL };
  const cli = whisperProgram(build, 'whisper-cli');
  const files = clips.map(({ path }) => path);
  return () => {
    const directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-'));
    try {
      return files.map((file) => {
        progress(`whisper-cli: ${file}`);
        const { language, text } = whisperCli(cli, decoding, file, directory);
        // Its segments begin with a space each.
        return { language, text: text.trim() };
      });
    } finally {
      rmSync(directory, { recursive: true });
    }
  };
}
