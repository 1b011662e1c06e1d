/**
 * Word error rate and language detection of the HTTP answers against whisper.cpp's own command line, on the same model and clips.
 *
 *   npm run bench:accuracy -- [--clips DIR] [--model NAME] [--own-length] [--build DIR]
 *
 * DIR holds audio files and a refs.json: [{file, language, text, sentences, voices}]. With --own-length whisper-cli encodes each
 * clip at the length that the engine would take for it as one window, instead of padding it to 30 s: what remains is then not the
 * padding's doing. It needs the target transcribe_windows, too.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { VerbatimClient } from '../src/client/index.js';
import { findModel, readManifest } from '../src/models/manifest.js';
import { modelPath } from '../src/models/store.js';
import { startVerbatim } from './processes/verbatim-process.js';
import {
  builtTool,
  transcribeWindows,
  whisperCli,
  type DecodingWords,
  type Heard,
} from './processes/built-tools.js';
import { WordErrorRate, wordErrors } from './reports/wer.js';

const root = resolve(__dirname, '..');

interface Clip {
  file: string;
  language: string;
  text: string;
  sentences: number;
  voices: string;
}

const { values } = parseArgs({
  options: {
    clips: { type: 'string', default: join(root, 'test', 'fixtures', 'audio', 'clips') },
    model: { type: 'string' },
    build: { type: 'string', default: join(root, 'build') },
    'own-length': { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  const cli = builtTool(values.build, 'whisper-cli', join('bin', 'whisper-cli'));
  const clips = JSON.parse(readFileSync(join(values.clips, 'refs.json'), 'utf8')) as Clip[];
  const manifest = readManifest(root, join(root, 'models'));
  const entry = findModel(manifest, values.model ?? manifest.defaultSpeechModel);
  const model = modelPath({ packageRoot: root, modelsDir: join(root, 'models') }, entry);
  console.log(
    `model ${entry.name}, ${clips.length} clips, whisper-cli at ${values['own-length'] ? 'the same length' : '30 s'}`,
  );
  const served = await throughHttp(clips, entry.name);
  const peers = throughWhisperCli(cli, clips, model);
  report(clips, served, peers);
}

async function throughHttp(clips: readonly Clip[], model: string): Promise<Heard[]> {
  const server = await startVerbatim({
    env: { VERBATIM_MODEL: model },
    main: join(root, 'dist', 'src', 'main.js'),
  });
  try {
    const client = new VerbatimClient({ baseUrl: server.url, apiKey: server.keys[0] ?? '' });
    const heard: Heard[] = [];
    for (const clip of clips) heard.push(await client.transcribe({ audio: join(values.clips, clip.file) }));
    return heard;
  } finally {
    await server.stop();
  }
}

/** Greedy with whisper.cpp's fall-back, language detected: the service's own defaults. */
function throughWhisperCli(cli: string, clips: readonly Clip[], model: string): Heard[] {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-accuracy-'));
  const files = clips.map(({ file }) => join(values.clips, file));
  const lengths = values['own-length'] ? engineLengths(model, files) : [];
  try {
    return files.map((file, index) =>
      whisperCli(cli, { ...decoding(model), audioContext: lengths[index] ?? 0 }, file, directory),
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function engineLengths(model: string, files: readonly string[]): number[] {
  const tool = builtTool(values.build, 'transcribe_windows');
  const lines = transcribeWindows(tool, { ...decoding(model), ownLength: true }, files);
  return lines.map(({ audioContext }) => audioContext);
}

function decoding(model: string): DecodingWords {
  return { model, language: 'auto', beamSize: 1 };
}

function report(clips: readonly Clip[], served: readonly Heard[], peers: readonly Heard[]): void {
  const groups = new Map<
    string,
    { served: WordErrorRate; peer: WordErrorRate; language: number; clips: number }
  >();
  for (const [index, clip] of clips.entries()) {
    const kind = clip.sentences === 1 ? 'one sentence' : 'many sentences';
    const name = `${kind} | ${clip.voices} | ${clip.language}`;
    const group = groups.get(name) ?? {
      served: new WordErrorRate(),
      peer: new WordErrorRate(),
      language: 0,
      clips: 0,
    };
    const mine = served[index] ?? { text: '', language: '' };
    group.served.add(wordErrors(clip.text, mine.text));
    group.peer.add(wordErrors(clip.text, peers[index]?.text ?? ''));
    group.language += mine.language === clip.language ? 1 : 0;
    group.clips += 1;
    groups.set(name, group);
  }
  console.log(
    '| clips | voices | language | Verbatim WER % | whisper-cli WER % | difference | language right |',
  );
  console.log('|---|---|---|---|---|---|---|');
  for (const [name, group] of [...groups].sort(([a], [b]) => a.localeCompare(b))) {
    const mine = group.served.percent;
    const peer = group.peer.percent;
    const numbers = [mine, peer, mine - peer].map((value) => value.toFixed(1)).join(' | ');
    console.log(`| ${name} | ${numbers} | ${group.language}/${group.clips} |`);
  }
  const single = clips
    .map((clip, index) => [clip, served[index]] as const)
    .filter(([clip]) => clip.sentences === 1);
  const right = single.filter(([clip, heard]) => heard?.language === clip.language).length;
  console.log(
    `language right on ${((100 * right) / Math.max(1, single.length)).toFixed(1)} % of the single sentences`,
  );
}

void main();
