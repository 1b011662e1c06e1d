import { expect } from 'chai';
import { join } from 'node:path';
import type { AudioWindow } from '../../src/engine/binding.js';
import { pcmOfSample, pcmOfSilence, writeWav } from '../support/speech.js';
import { binding, decodeAlone, firstWindow, inDirectory, loadModel, MODEL, POLICY } from './support.js';

/** As the published models want their audio cut. */
const FULL = { ...POLICY, maxSeconds: 30, cut: 'quietest', ownLength: false } as const;
const SILENCE_SECONDS = 3;
const OPTIONS = { language: 'en', align: true };

/** One of the sample twice, with silence between. */
async function inWindow<T>(look: (window: AudioWindow, again: number) => T | Promise<T>): Promise<T> {
  return inDirectory(async (directory) => {
    const path = join(directory, 'twice.wav');
    const seconds = writeWav(path, [pcmOfSample(), pcmOfSilence(SILENCE_SECONDS), pcmOfSample()]);
    return look(await firstWindow(path, FULL), (seconds + SILENCE_SECONDS) / 2);
  });
}

/** No time lies in the silence that was left out, and there are times on both sides of it. */
function checkTimes(times: readonly { startSeconds: number; endSeconds: number }[], audio: AudioWindow): void {
  for (const { startSeconds, endSeconds } of times) {
    const starts = audio.pieces.some((piece) => startSeconds >= piece.startSeconds && startSeconds < piece.endSeconds);
    const ends = audio.pieces.some((piece) => endSeconds > piece.startSeconds && endSeconds <= piece.endSeconds + 1e-9);
    expect([startSeconds, starts]).to.deep.equal([startSeconds, true]);
    expect([endSeconds, ends]).to.deep.equal([endSeconds, true]);
  }
}

describe('Addon: a window out of several pieces', () => {
  it('reports where they lie in the file, and what of them is speech', () =>
    inWindow((window, again) => {
      const last = window.pieces.at(-1)!;
      expect(window.pieces.length).to.be.at.least(2);
      expect(window.pieces[0]?.startSeconds).to.equal(window.startSeconds);
      expect(last.endSeconds).to.equal(window.endSeconds);
      expect(last.startSeconds).to.be.within(again - 0.3, again + 0.5);
      const held = window.pieces.reduce((sum, piece) => sum + piece.endSeconds - piece.startSeconds, 0);
      expect(held).to.be.below(window.endSeconds - window.startSeconds - SILENCE_SECONDS + 0.5);
      checkTimes(window.speech, window);
      expect(window.speech.at(-1)?.startSeconds).to.be.above(again - 0.01);
    }));

  it('has segments and words at their place in the file, from either decoder', () =>
    inWindow(async (audio, again) => {
      const slots = await loadModel();
      const slot = await slots.createSlot({ threads: 1 });
      const model = await binding.loadRecogniser(MODEL, { device: 'cpu' });
      for (const segments of [
        (await slot.transcribe(audio, OPTIONS)).segments,
        await decodeAlone(model, audio, OPTIONS),
      ]) {
        const words = segments.flatMap((segment) => segment.words ?? []);
        expect(words.map(({ text }) => text).join('')).to.contain('Laura');
        checkTimes(words, audio);
        expect(words.at(-1)?.startSeconds).to.be.above(again);
        expect(segments.at(-1)?.endSeconds).to.be.above(again);
      }
      const headSets = [model.decoderHeads.alignment];
      const text = {
        text: ' Hello Emma, this is Laura. Hello Emma, this is Laura.',
        language: 'en',
        ownLength: false,
      };
      const { times } = await model.alignText(audio, { ...text, threads: 1, headSets });
      expect(times[0]?.startSeconds.at(-1)).to.be.above(again);
      expect(times[0]?.endSeconds.at(-1)).to.be.above(again);
      slot.close();
      slots.close();
      model.close();
    }));
});
