import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AudioReader, VoiceActivityModel } from '../../src/engine/binding.js';
import { pause, pcmOfSample, pcmOfSilence, writeWav } from '../support/speech.js';
import { voiceModel, writeVoiceModel } from '../support/voice-models.js';
import {
  binding,
  collectGarbage,
  failure,
  inDirectory,
  POLICY,
  samplePath,
  windowsOf,
  writeLongWav,
} from './support.js';

function withModel<T>(
  recognises: 'everything' | 'nothing',
  look: (voice: VoiceActivityModel, directory: string) => Promise<T>,
): Promise<T> {
  return inDirectory(async (directory) => {
    const voice = await binding.loadVoiceActivityModel(writeVoiceModel(join(directory, 'vad.bin'), recognises));
    try {
      return await look(voice, directory);
    } finally {
      voice.close();
    }
  });
}

/** What every call answered: a letter each, r reading, s silence, w window. */
async function steps(reader: AudioReader): Promise<string> {
  let letters = '';
  for (;;) {
    const step = await reader.nextWindow();
    if (step === null) return letters;
    letters += typeof step === 'string' ? step.charAt(0) : 'w';
  }
}

describe('Addon: voice activity', () => {
  it('cuts windows of what the model detects as speech, low noise and all but no digital silence, or of nothing', async () => {
    await withModel('everything', async (voice, directory) => {
      const path = join(directory, 'a.wav');
      writeWav(path, [pcmOfSilence(3), pcmOfSample(), pcmOfSilence(3)]);
      const audible = await windowsOf(await binding.openAudio(path, POLICY, { voice }));
      expect(audible[0]?.startSeconds).to.be.within(2.7, 3.3);
      const energy = await windowsOf(await binding.openAudio(path, POLICY));
      expect(energy[0]?.startSeconds).to.be.within(2.7, 3.3);
      for (const { speech, startSeconds, endSeconds } of energy) {
        expect(speech).not.to.deep.equal([]);
        expect(speech[0]?.startSeconds).to.be.at.least(startSeconds);
        expect(speech.at(-1)?.endSeconds).to.be.at.most(endSeconds);
      }
      writeWav(path, [pause(3), pcmOfSample(), pause(3)]);
      const reader = await binding.openAudio(path, POLICY, { voice });
      const windows = await windowsOf(reader);
      const seconds = windows.reduce((sum, { startSeconds, endSeconds }) => sum + endSeconds - startSeconds, 0);
      expect(windows[0]?.startSeconds).to.equal(0);
      expect(seconds).to.be.closeTo(reader.positionSeconds, 0.02);
      expect(windows[0]?.speech[0]?.startSeconds).to.equal(0);
      expect(windows.at(-1)?.speech.at(-1)?.endSeconds).to.be.closeTo(reader.positionSeconds, 0.02);
    });
    await withModel('nothing', async (voice) => {
      const reader = await binding.openAudio(samplePath('en-vorbis.ogg'), POLICY, { voice });
      expect(await windowsOf(reader)).to.deep.equal([]);
      expect(reader.positionSeconds).to.be.above(4);
    });
  });

  it('goes on in calls of eight seconds of audio, whatever the file holds', async () => {
    await withModel('nothing', async (voice, directory) => {
      const path = join(directory, 'long.wav');
      writeLongWav(path, 250);
      // 32 blocks; after a minute of them without speech that is passed over.
      const letters = await steps(await binding.openAudio(path, POLICY, { voice }));
      expect(letters).to.have.length.within(30, 33);
      expect(letters).to.match(/^(r{6,8}s){3,4}r*$/);
    });
    await withModel('everything', async (voice, directory) => {
      const path = join(directory, 'long.wav');
      writeLongWav(path, 100);
      const whole = { ...POLICY, maxSeconds: 30, cut: 'quietest' } as const;
      const letters = await steps(await binding.openAudio(path, whole, { voice }));
      expect(letters).to.match(/^rrrr?wr{2,4}w/);
    });
  });

  it('is kept by the readers that were opened with it, and released with the last', async () => {
    await collectGarbage();
    const before = binding.heldBytes();
    await inDirectory(async (directory) => {
      const path = writeVoiceModel(join(directory, 'vad.bin'), 'nothing');
      const voice = await binding.loadVoiceActivityModel(path);
      expect(binding.heldBytes()).to.be.above(before + 1_000_000);
      const reader = await binding.openAudio(samplePath('en-vorbis.ogg'), POLICY, { voice });
      voice.close();
      voice.close();
      const running = reader.nextWindow();
      reader.close();
      expect(await running).to.equal('reading');
      expect(binding.heldBytes()).to.equal(before);
      const late = await failure(binding.openAudio(samplePath('en-vorbis.ogg'), POLICY, { voice }));
      expect(late).to.include({ code: 'invalid_argument' });
      expect(late.message).to.contain('VoiceActivityModel has been closed');
    });
  });

  it('serves readers at once, each with the answer that it gets alone', async () => {
    await withModel('everything', async (voice) => {
      const spans = async (file: string): Promise<number[][]> => {
        const reader = await binding.openAudio(samplePath(file), POLICY, { voice });
        return (await windowsOf(reader)).map(({ startSeconds, endSeconds }) => [startSeconds, endSeconds]);
      };
      const files = ['en-vorbis.ogg', 'en-wav16.wav', 'de-wav24-stereo.wav', 'en-vorbis.ogg'];
      const alone: number[][][] = [];
      for (const file of files) alone.push(await spans(file));
      expect(await Promise.all(files.map(spans))).to.deep.equal(alone);
    });
  });

  it('refuses files that are no such model', async () => {
    await inDirectory(async (directory) => {
      const refused = async (bytes: Uint8Array | string): Promise<string> => {
        const path = join(directory, 'vad.bin');
        writeFileSync(path, bytes);
        const error = await failure(binding.loadVoiceActivityModel(path));
        expect(error).to.include({ code: 'invalid_model' });
        return error.message;
      };
      const whole = voiceModel('nothing');
      expect(await refused('')).to.contain('not a Silero model');
      expect(await refused('This is a text.')).to.contain('not a Silero model');
      expect(await refused(whole.subarray(0, whole.length / 2))).to.contain('truncated');
      const lying = Buffer.from(whole);
      lying.writeInt32LE(0x7fffffff, 30);
      expect(await refused(lying)).to.contain('frame is 2147483647, allowed: 512');
      const missing = await failure(binding.loadVoiceActivityModel(join(directory, 'none.bin')));
      expect(missing).to.include({ code: 'io_error' });
    });
  });

  it('refuses options that are none', async () => {
    for (const [options, message] of [
      [7, 'options must be an object like { voice }.'],
      [{ voice: 7 }, 'options.voice must be an object of the class VoiceActivityModel.'],
    ] as const) {
      const error = await failure(
        binding.openAudio(samplePath('en-wav16.wav'), POLICY, options as unknown as { voice: VoiceActivityModel }),
      );
      expect(error).to.be.instanceOf(TypeError).and.include({ code: 'invalid_argument', message });
    }
  });
});
