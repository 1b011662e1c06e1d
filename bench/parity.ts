/**
 * The same words as whisper.cpp's own command line: every clip as one window through a slot of the engine and through
 * whisper-cli, both built from the same source, with the same model and options.
 *
 *   npm run bench:parity -- [--clips DIR] [--model FILE] [--build DIR]
 *
 * DIR holds audio files of at most 30 s and a refs.json: [{file, language, text}]. The engine decodes all clips in one slot,
 * whisper-cli each in a process of its own (its state carries things over from one file to the next).
 * Exit code 1 when a text or a detected language differs.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  builtTool,
  transcribeWindows,
  whisperCli,
  type EngineLine,
  type Heard,
} from './processes/built-tools.js';
import { WordErrorRate, wordErrors } from './reports/wer.js';

const root = resolve(__dirname, '..');

interface Clip {
  file: string;
  language: string;
  text: string;
}

interface Setting {
  name: string;
  detect: boolean;
  beamSize: number;
  ownLength: boolean;
}

const SETTINGS: readonly Setting[] = [
  { name: 'greedy, language detected', detect: true, beamSize: 1, ownLength: false },
  { name: 'greedy, language given', detect: false, beamSize: 1, ownLength: false },
  { name: 'greedy, language detected, own length', detect: true, beamSize: 1, ownLength: true },
  { name: 'beam 5, language detected, own length', detect: true, beamSize: 5, ownLength: true },
];

const { values } = parseArgs({
  options: {
    clips: { type: 'string', default: join(root, 'test', 'fixtures', 'audio', 'clips') },
    model: { type: 'string', default: bundledModel() },
    build: { type: 'string', default: join(root, 'build') },
  },
});
const engine = builtTool(values.build, 'transcribe_windows');
const cli = builtTool(values.build, 'whisper-cli', join('bin', 'whisper-cli'));

function bundledModel(): string {
  const directory = join(root, 'models', 'bundled');
  const file = readdirSync(directory).find((name) => /^ggml-.*\.bin$/.test(name));
  if (file === undefined) throw new Error(`no ggml-*.bin in ${directory}`);
  return join(directory, file);
}

/** One process a language: a given language is an option of the whole run. */
function throughEngine(clips: readonly Clip[], setting: Setting): Map<string, EngineLine> {
  const heard = new Map<string, EngineLine>();
  const languages = setting.detect ? ['auto'] : [...new Set(clips.map((clip) => clip.language))];
  for (const language of languages) {
    const group = clips.filter((clip) => language === 'auto' || clip.language === language);
    const files = group.map((clip) => join(values.clips, clip.file));
    const lines = transcribeWindows(engine, { model: values.model, language, ...setting }, files);
    for (const [index, clip] of group.entries()) {
      const line = lines[index];
      if (line !== undefined) heard.set(clip.file, line);
    }
  }
  return heard;
}

function throughWhisperCli(clip: Clip, setting: Setting, audioContext: number, directory: string): Heard {
  const language = setting.detect ? 'auto' : clip.language;
  const words = { model: values.model, language, beamSize: setting.beamSize, audioContext };
  return whisperCli(cli, words, join(values.clips, clip.file), directory);
}

interface Tally {
  clips: number;
  languageRight: number;
  ours: WordErrorRate;
  theirs: WordErrorRate;
}

/** Returns how many clips differ. */
function compare(clips: readonly Clip[], setting: Setting, directory: string): number {
  const ours = throughEngine(clips, setting);
  const tallies = new Map<string, Tally>();
  const differences: string[] = [];
  let encoderPasses = 0;
  for (const clip of clips) {
    const mine = ours.get(clip.file);
    if (mine === undefined) throw new Error(`no answer for ${clip.file}`);
    const theirs = throughWhisperCli(clip, setting, mine.audioContext, directory);
    if (mine.text !== theirs.text || mine.language !== theirs.language) {
      differences.push(
        `${clip.file}: ${JSON.stringify(mine.text)} | whisper-cli: ${JSON.stringify(theirs.text)}`,
      );
    }
    encoderPasses += mine.encoderPasses;
    const fresh = { clips: 0, languageRight: 0, ours: new WordErrorRate(), theirs: new WordErrorRate() };
    const tally = tallies.get(clip.language) ?? fresh;
    tally.clips += 1;
    tally.languageRight += mine.language === clip.language ? 1 : 0;
    tally.ours.add(wordErrors(clip.text, mine.text));
    tally.theirs.add(wordErrors(clip.text, theirs.text));
    tallies.set(clip.language, tally);
  }
  console.log(`\n${setting.name}: ${differences.length} of ${clips.length} clips differ`);
  console.log(`encoder passes per window: ${(encoderPasses / clips.length).toFixed(2)}`);
  for (const line of differences) console.log(`  ${line}`);
  printTable(tallies);
  return differences.length;
}

function printTable(tallies: ReadonlyMap<string, Tally>): void {
  console.log('| language | Verbatim WER % | whisper-cli WER % | language right |\n|---|---|---|---|');
  for (const [language, tally] of [...tallies].sort(([a], [b]) => a.localeCompare(b))) {
    const rates = [tally.ours, tally.theirs].map((rate) => rate.percent.toFixed(1)).join(' | ');
    console.log(`| ${language} | ${rates} | ${tally.languageRight}/${tally.clips} |`);
  }
}

function main(): void {
  const clips = JSON.parse(readFileSync(join(values.clips, 'refs.json'), 'utf8')) as Clip[];
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-parity-'));
  try {
    let differing = 0;
    for (const setting of SETTINGS) differing += compare(clips, setting, directory);
    process.exitCode = differing === 0 ? 0 : 1;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

main();
