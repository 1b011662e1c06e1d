import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { durationOf as durationOfFile } from '../../bench/load/clips.js';
import { loadBinding, type NativeError } from '../../src/engine/binding.js';
import { chirp, mix, noise, silence, tone, writeLongFile, writeSignal, type SampleKind } from './audio-files.js';
import { mutateAudio, type AudioSeed } from './mutate-audio.js';
import { SEED } from './seed.js';
import { POLICY } from './window-policy.js';

const SAMPLES = join(__dirname, '..', 'fixtures', 'audio', 'samples');
const KINDS: SampleKind[] = ['pcm_u8', 'pcm_s16', 'pcm_s24', 'pcm_s32', 'float', 'double', 'alaw', 'ulaw'];

function seeds(): AudioSeed[] {
  return readdirSync(SAMPLES)
    .filter((name) => !name.endsWith('.json'))
    .map((name) => ({ name, bytes: readFileSync(join(SAMPLES, name)) }));
}

const durationOf = (path: string): Promise<number> => durationOfFile(loadBinding(), POLICY, path);

describe('audio files that tests make', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-audio-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  for (const kind of KINDS) {
    for (const extensible of [false, true]) {
      it(`are read as ${kind}${extensible ? ', extensible' : ''}, with their exact duration`, async () => {
        const path = join(directory, 'a.wav');
        const written = writeSignal(path, chirp(200, 3000, 1.5), 1.5, {
          kind,
          sampleRate: 22_050,
          channels: 3,
          extensible,
        });
        const reader = await loadBinding().openAudio(path, POLICY);
        expect(reader.info).to.deep.equal({ container: 'wav', codec: kind, sampleRate: 22_050, channels: 3 });
        reader.close();
        expect(await durationOf(path))
          .to.equal(written)
          .and.to.equal(1.5);
      });
    }
  }

  it('hold sound where it was put and silence elsewhere', async () => {
    const path = join(directory, 'a.wav');
    const sound = mix(tone(300), noise(0.1));
    writeSignal(path, (seconds) => (seconds >= 4 && seconds < 6 ? sound(seconds) : silence(seconds)), 10);
    const reader = await loadBinding().openAudio(path, POLICY);
    const window = await reader.nextWindow();
    expect(window).to.be.an('object');
    if (window === null || typeof window === 'string') return;
    expect(window.startSeconds).to.be.within(3.7, 4);
    expect(window.endSeconds).to.be.within(6, 6.3);
    window.release();
    expect(await reader.nextWindow()).to.equal(null);
    reader.close();
  });

  it('can be long', async () => {
    const clip = join(SAMPLES, 'en-wav16.wav');
    const path = join(directory, 'long.wav');
    const seconds = writeLongFile(path, {
      clips: [clip],
      seconds: 600,
      pauseSeconds: 0.5,
      pause: noise(0.001),
    });
    expect(seconds).to.be.at.least(600);
    expect(statSync(path).size).to.equal(44 + Math.round(seconds * 32_000));
    expect(await durationOf(path)).to.equal(seconds);
  });
});

describe('mutated audio', () => {
  const digest = (seed: number): string => {
    const hash = createHash('sha256');
    for (const { name, bytes, recipe } of mutateAudio(seeds(), { count: 100, seed })) {
      hash.update(name).update(recipe).update(bytes);
    }
    return hash.digest('hex');
  };

  it('is the same for the same seed, and another for another', () => {
    expect(digest(5)).to.equal(digest(5));
    expect(digest(5)).not.to.equal(digest(6));
  });

  it('is opened and measured or refused with the error of an upload', async function () {
    const directory = mkdtempSync(join(tmpdir(), 'verbatim-mutated-'));
    const answers = new Map<string, number>();
    try {
      for (const { name, bytes, recipe } of mutateAudio(seeds(), { count: 100, seed: SEED })) {
        const path = join(directory, name);
        writeFileSync(path, bytes);
        const answer = await durationOf(path).then(
          () => 'ok',
          (error: unknown) => (error as NativeError).code,
        );
        expect(answer, recipe).to.be.oneOf(['ok', 'invalid_audio', 'unsupported_audio_format']);
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
      }
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
    // The mutations reach all three outcomes.
    expect([...answers.keys()]).to.have.members(['ok', 'invalid_audio', 'unsupported_audio_format']);
  });
});
