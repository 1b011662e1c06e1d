/**
 * Word error rate and language detection of the HTTP answers against whisper.cpp's own command line, on the same model and clips.
 *
 *   npm run bench:accuracy -- [--clips DIR] [--model NAME]
 *
 * DIR holds audio files and a refs.json: [{file, language, text, sentences, voices}].
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { VerbatimClient } from '../src/client/index.js';
import { findModel, readManifest } from '../src/models/manifest.js';
import { modelPath } from '../src/models/store.js';
import { startVerbatim } from '../src/bench/verbatim-process.js';
import { WordErrorRate, wordErrors } from './wer.js';

const root = resolve(__dirname, '..');
const whisperCli = join(root, 'build', 'bin', 'whisper-cli');

interface Clip {
  file: string;
  language: string;
  text: string;
  sentences: number;
  voices: string;
}

interface Heard {
  text: string;
  language: string;
}

const { values } = parseArgs({
  options: {
    clips: { type: 'string', default: join(root, 'test', 'fixtures', 'audio', 'clips') },
    model: { type: 'string' },
  },
});

async function main(): Promise<void> {
  if (!existsSync(whisperCli)) {
    throw new Error(`${whisperCli} is missing. Build it: cmake --build build --target whisper-cli`);
  }
  const clips = JSON.parse(readFileSync(join(values.clips, 'refs.json'), 'utf8')) as Clip[];
  const manifest = readManifest(root, join(root, 'models'));
  const entry = findModel(manifest, values.model ?? manifest.defaultSpeechModel);
  const model = modelPath({ packageRoot: root, modelsDir: join(root, 'models') }, entry);
  console.log(`model ${entry.name}, ${clips.length} clips`);
  const served = await throughHttp(clips, entry.name);
  const peers = throughWhisperCli(clips, model);
  report(clips, served, peers);
}

async function throughHttp(clips: readonly Clip[], model: string): Promise<Heard[]> {
  const server = await startVerbatim({ env: { VERBATIM_MODEL: model }, main: join(root, 'dist', 'main.js') });
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
function throughWhisperCli(clips: readonly Clip[], model: string): Heard[] {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-accuracy-'));
  try {
    return clips.map((clip) => {
      const output = join(directory, basename(clip.file));
      const words = ['-m', model, '-l', 'auto', '-bs', '1', '-bo', '5', '-np', '-oj', '-of', output, '-f'];
      const run = spawnSync(whisperCli, [...words, join(values.clips, clip.file)], { encoding: 'utf8' });
      if (run.status !== 0) throw new Error(`whisper-cli failed on ${clip.file}: ${run.stderr}`);
      const json = JSON.parse(readFileSync(`${output}.json`, 'utf8')) as {
        result: { language: string };
        transcription: { text: string }[];
      };
      return {
        language: json.result.language,
        text: json.transcription.map((segment) => segment.text).join(''),
      };
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
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
