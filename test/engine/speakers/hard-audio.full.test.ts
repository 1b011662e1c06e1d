/** What is no conversation, through the bundled models in their process: whatever it is, there is an answer. */
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SpeakerEngine } from '../../../src/engine/speakers/speaker-engine.js';
import type { SpeakerTurn } from '../../../src/engine/speakers/speaker-turn.js';
import { packageRoot } from '../../../src/package-root.js';
import { seededRandom } from '../../../bench/load/random.js';
import { writeSignal } from '../../support/audio-files.js';

const BUNDLED = join(packageRoot, 'models', 'bundled');
const MODELS = {
  segmentation: join(BUNDLED, 'speaker-segmentation-verbatim.onnx'),
  embedding: join(BUNDLED, 'speaker-embedding-verbatim.onnx'),
};

const wave = (hertz: number, time: number): number => Math.sin(2 * Math.PI * hertz * time);

/** Something like a vowel: harmonics under three formants, in syllables. */
function vowel(pitch: number, formants: readonly number[]): (time: number) => number {
  const harmonics = Array.from({ length: Math.floor(4000 / pitch) }, (_, index) => pitch * (index + 1));
  const gains = harmonics.map((hertz) =>
    formants.reduce((sum, formant) => sum + 1 / (1 + ((hertz - formant) / 90) ** 2), 0),
  );
  return (time) => {
    const syllable = Math.max(0, wave(3, time));
    return syllable * harmonics.reduce((sum, hertz, index) => sum + gains[index]! * wave(hertz, time), 0);
  };
}

const CHORDS = [
  [262, 330, 392],
  [220, 262, 330],
  [175, 220, 262],
  [196, 247, 294],
];

function music(time: number): number {
  const beat = (2 * time) % 1;
  const chord = CHORDS[Math.floor(time) % CHORDS.length]!;
  return (
    0.1 * Math.exp(-2 * beat) * chord.reduce((sum, hertz) => sum + wave(hertz, time) + wave(2 * hertz, time) / 2, 0)
  );
}

function crowd(): (time: number) => number {
  const random = seededRandom(3);
  const voices = Array.from({ length: 12 }, () => {
    const formants = [300 + 500 * random(), 900 + 1300 * random(), 2300 + 900 * random()];
    return { say: vowel(90 + 160 * random(), formants), from: random() };
  });
  return (time) => 0.02 * voices.reduce((sum, { say, from }) => sum + say(time + from), 0);
}

/** Twelve voices of different pitch and formants, each for so many seconds. */
function twelveInTurn(seconds: number): (time: number) => number {
  const random = seededRandom(3);
  const voices = Array.from({ length: 12 }, (_, index) => {
    const formants = [300 + 500 * random(), 900 + 1300 * random(), 2300 + 900 * random()];
    return vowel(80 + (170 * index) / 12, formants);
  });
  return (time) => 0.1 * (voices[Math.floor(time / seconds)]?.(time) ?? 0);
}

describe('Speakers of what is no conversation', function () {
  this.timeout(300_000);
  let directory: string;
  let engine: SpeakerEngine;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-hard-'));
    engine = new SpeakerEngine({ ...MODELS, threads: 1, threshold: 0.4, minSeconds: 1 });
  });
  after(async () => {
    await engine.close();
    rmSync(directory, { recursive: true });
  });

  async function reported(
    signal: (time: number) => number,
    seconds: number,
    options: { rate?: number; minSpeakers?: number; maxSpeakers?: number } = {},
  ): Promise<SpeakerTurn[]> {
    const path = join(directory, 'audio.wav');
    const { rate = 16_000, ...speakers } = options;
    writeSignal(path, signal, seconds, { kind: 'pcm_s16', sampleRate: rate, channels: 1 });
    return engine.diarize({ path, durationSeconds: seconds, ...speakers });
  }
  const speakersIn = (turns: readonly SpeakerTurn[]): number => new Set(turns.map(({ speaker }) => speaker)).size;

  it('silence has none, whether or not five people are expected', async () => {
    expect(await reported(() => 0, 30)).to.deep.equal([]);
    expect(await reported(() => 0, 30, { minSpeakers: 5, maxSpeakers: 5 })).to.deep.equal([]);
  });

  for (const seconds of [0.1, 0.001, 0.45])
    it(`${seconds} s of a voice have one at most`, async () => {
      const turns = await reported(vowel(120, [500, 1500, 2500]), seconds);
      expect(speakersIn(turns)).to.be.at.most(1);
      for (const { endSeconds } of turns) expect(endSeconds).to.be.at.most(seconds);
    });

  it('a file without a sample is refused by what it lacks', async () => {
    const error = await reported(() => 0, 0).then(
      () => null,
      (failure: unknown) => failure as Error,
    );
    expect(error?.message).to.contain('holds no samples');
  });

  it('music has no more than a few', async () => {
    expect(await reported(music, 30)).to.deep.equal([]);
  });

  it('twelve who speak at once are reported as at most two at a time', async () => {
    // Together they have no voice that the model knows for one; one after another they have two, where they meet, too.
    expect(await reported(crowd(), 40)).to.deep.equal([]);
    const turns = await reported(twelveInTurn(8), 96);
    expect(speakersIn(turns)).to.equal(2);
    const atOnce = turns.map(
      ({ startSeconds }) =>
        turns.filter((turn) => turn.startSeconds <= startSeconds && startSeconds < turn.endSeconds).length,
    );
    expect(Math.max(...atOnce)).to.equal(2);
  });

  it('who speaks when is found in a telephone’s 8 kHz as in 16 kHz', async () => {
    const [low, high] = [vowel(110, [400, 1300, 2400]), vowel(230, [750, 1900, 3100])];
    const talk = (time: number): number => 0.1 * (Math.floor(time / 8) % 2 === 0 ? low(time) : high(time));
    const [narrow, wide] = [await reported(talk, 32, { rate: 8000 }), await reported(talk, 32)];
    expect(wide.map(({ speaker }) => speaker)).to.deep.equal(['S1', 'S2', 'S1', 'S2']);
    expect(narrow.map(({ speaker }) => speaker)).to.deep.equal(['S1', 'S2', 'S1', 'S2']);
    for (const [index, { startSeconds, endSeconds }] of narrow.entries()) {
      expect(startSeconds).to.be.closeTo(wide[index]!.startSeconds, 0.3);
      expect(endSeconds).to.be.closeTo(wide[index]!.endSeconds, 0.3);
    }
  });

  it('noise that is louder than any file should be has an answer', async () => {
    const random = seededRandom(4);
    expect(await reported(() => 2 * random() - 1, 20)).to.deep.equal([]);
  });

  it('what is no audio is refused, and the next file is answered', async () => {
    const path = join(directory, 'no-audio.wav');
    writeFileSync(path, 'RIFF....WAVEfmt');
    const error = await engine.diarize({ path, durationSeconds: 1 }).then(
      () => null,
      (failure: unknown) => failure as { code: string },
    );
    expect(error).to.have.property('code').that.is.a('string');
    expect(await reported(() => 0, 1)).to.deep.equal([]);
  });
});
