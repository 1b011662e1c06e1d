/**
 * Parakeet's tokens and times, window by window, are those of whisper.cpp's own parakeet-cli: both of the same sources,
 * the accelerator off.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { builtTool, transcribeWindows, type EngineLine } from '../../bench/processes/built-tools.js';
import { parakeetCli, type ParakeetToken } from '../../bench/processes/parakeet-cli.js';
import { packageRoot } from '../../src/package-root.js';
import { Mulberry32 } from '../support/random.js';
import { BUILD, buildTools, makeModel } from './made-models.js';
import { pcmOfSample, pcmOfSilence, writeWav } from '../support/speech.js';

const TOOLS = ['parakeet-cli', 'transcribe_windows', 'make_model'];
const CLIPS = join(packageRoot, 'test', 'fixtures', 'audio', 'clips');
const RATE = 16_000;

/** Shape, weights, seed, windows, the longest of them in seconds: of small ones, their context. */
const MODELS = [
  ['parakeet-small', 'f16', 1, 28, 31.9],
  ['parakeet-small', 'f32', 2, 28, 31.9],
  ['parakeet-small', 'q8_0', 3, 28, 31.9],
  ['parakeet-narrow', 'f16', 4, 28, 31.9],
  ['parakeet-narrow', 'f32', 5, 28, 31.9],
  ['parakeet-wide', 'f16', 6, 28, 31.9],
  ['parakeet-wide', 'q4_k', 7, 28, 31.9],
  ['parakeet-0.6b', 'f16', 8, 8, 7],
] as const;

describe('Parakeet beside parakeet-cli', function () {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-parity-'));
  let tokens = 0;
  let windows = 0;

  before(() => {
    buildTools(...TOOLS);
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  for (const [shape, weights, seed, count, longest] of MODELS) {
    it(`recognises the same with a model of ${shape}, ${weights}`, () => {
      const model = join(directory, 'model.bin');
      makeModel(shape, model, weights, seed);
      const files = soundsOf(directory, seed, count, longest);
      const options = { model, language: 'en', beamSize: 1, ownLength: false, words: true };
      const ours = transcribeWindows(builtTool(BUILD, 'transcribe_windows'), options, files);
      const theirs = parakeetCli(builtTool(BUILD, 'parakeet-cli', join('bin', 'parakeet-cli')), model, files);
      expect(ours).to.have.length(count);
      for (const [index, line] of ours.entries()) expectSame(line, theirs[index] ?? []);
      // Else the model says the same whatever it recognises.
      expect(new Set(theirs.flat().map(({ id }) => id)).size).to.be.above(15);
      tokens += theirs.flat().length;
      windows += count;
    });
  }

  it('was asked often enough', () => {
    expect(windows).to.be.at.least(200);
    expect(tokens).to.be.above(5_000);
  });
});

/** Every token that is text, and of every word when it was said. */
function expectSame(ours: EngineLine, theirs: readonly ParakeetToken[]): void {
  const kept = pairs(ours, theirs);
  for (const [index, { id, probability }] of kept.entries()) {
    const [ourId, ourProbability] = ours.tokens[index] ?? [];
    expect(ourId).to.equal(id);
    expect(ourProbability).to.be.closeTo(probability, 0.000_051);
  }
  let at = 0;
  for (const { text, start, end } of ours.words) {
    const own: ParakeetToken[] = [];
    while (textOf(own).length < text.length) own.push(kept[at++] ?? expect.fail(`${text} has no token`));
    expect(textOf(own)).to.equal(text);
    const within = (seconds: number | undefined): number => Math.min(seconds ?? NaN, ours.seconds);
    const spoken = transcriptOf(own);
    expect([start, end]).to.deep.equal([within(spoken[0]?.start), within(spoken.at(-1)?.end)]);
  }
  expect(at).to.equal(kept.length);
  expect(ours.text).to.equal(textOf(kept));
}

function textOf(tokens: readonly ParakeetToken[]): string {
  return tokens.map(({ text }) => text).join('');
}

/** The tokens of a word that have its times: punctuation has none, unless it is all there is. */
function transcriptOf(word: readonly ParakeetToken[]): readonly ParakeetToken[] {
  const spoken = word.filter(({ text }) => !/^[\s.,?!]*$/.test(text));
  return spoken.length > 0 ? spoken : word;
}

/** Theirs, without those that the engine does not take for text: the unknown piece, and sentences of spaces alone. */
function pairs({ tokens }: EngineLine, theirs: readonly ParakeetToken[]): ParakeetToken[] {
  let at = 0;
  return theirs.filter(({ id, text }) => {
    if (tokens[at]?.[0] === id) return (at += 1) > 0;
    expect(id === 0 || text.trim() === '', `${id} "${text}" was not recognised`).to.equal(true);
    return false;
  });
}

/**
 * Half of them bundled clips and speech that was cut anywhere, half made: noise, tones and silence, from 0.2 s to the
 * longest.
 */
function soundsOf(directory: string, seed: number, count: number, longest: number): string[] {
  const random = new Mulberry32(seed);
  const speech = pcmOfSample();
  const clips = readdirSync(CLIPS).filter((file) => file.endsWith('.flac') && /^(held1|seen1)/.test(file));
  return Array.from({ length: count }, (_, index) => {
    if (index % 4 === 0) return join(CLIPS, random.pick(clips));
    const path = join(directory, `${seed}-${index}.wav`);
    const share = index / (count - 1);
    const seconds = 0.2 * (longest / 0.2) ** share;
    writeWav(path, [soundOf(random, speech, Math.round(seconds * RATE))]);
    return path;
  });
}

/** What comes after a pause, and after another, until it is as long. */
function soundOf(random: Mulberry32, speech: Buffer, samples: number): Buffer {
  const parts: Buffer[] = [];
  for (let size = 0; size < 2 * samples; size = parts.reduce((sum, part) => sum + part.length, 0)) {
    const made = [() => speech.subarray(2 * random.below(RATE)), () => noise(random), () => tone(random)];
    parts.push(random.pick(made)(), pcmOfSilence(0.3 * random.next()));
  }
  return Buffer.concat(parts).subarray(0, 2 * samples);
}

function noise(random: Mulberry32): Buffer {
  const loudness = 8000 * random.next();
  return pcmOf(random, () => loudness * (2 * random.next() - 1));
}

function tone(random: Mulberry32): Buffer {
  const step = (2 * Math.PI * (80 + 3000 * random.next())) / RATE;
  const loudness = 8000 * random.next();
  return pcmOf(random, (at) => loudness * Math.sin(step * at) * Math.sin(at / 3000));
}

/** Up to two seconds. */
function pcmOf(random: Mulberry32, sample: (at: number) => number): Buffer {
  const pcm = pcmOfSilence(0.1 + 1.9 * random.next());
  for (let at = 0; at < pcm.length / 2; at++) pcm.writeInt16LE(Math.round(sample(at)), 2 * at);
  return pcm;
}
