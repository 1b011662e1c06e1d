import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadBinding } from '../../../src/engine/binding.js';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { DEFAULT_BATCH } from '../../../src/service/speech-decoder.js';
import { loadRealEngine, transcribeWith } from '../../support/real-engine.js';
import { until } from '../../support/until.js';
import { POLICY } from '../../support/window-policy.js';
import { WordErrorRate, wordErrors } from '../../../bench/reports/wer.js';
import {
  pause,
  pcmOfSample,
  sample,
  samples,
  pcmOfSilence,
  unknownClips,
  writeRepeatedWav,
  writeWav,
} from '../../support/speech.js';

for (const decoder of ['whisper.cpp', 'batched'] as const) {
  describe(`The engine on the real addon and model, decoded by ${decoder}`, function () {
    this.timeout(120_000);
    let engine: SpeechEngine;
    let directory: string;
    let windowDone: () => void;

    before(async () => {
      directory = mkdtempSync(join(tmpdir(), 'verbatim-engine-'));
      engine = await loadRealEngine({ decoder, slots: 2, observer: { windowDone: () => windowDone() } });
    });

    beforeEach(() => (windowDone = () => undefined));

    after(async () => {
      await engine.close();
      rmSync(directory, { recursive: true });
    });

    const file = (name: string): string => join(directory, name);

    it('recognises every sample: its words, and its language', async () => {
      const rate = new WordErrorRate();
      for (const { path, language, text } of samples()) {
        const transcript = await transcribeWith(engine, path);
        expect(transcript.language, path).to.equal(language);
        expect(transcript.languageProbability).to.be.within(0.5, 1);
        expect(transcript.unsureWindows, path).to.equal(0);
        rate.add(wordErrors(text, transcript.text));
      }
      expect(rate.percent, 'word error rate').to.be.below(20);
    });

    it('leaves out what the bundled model only guesses at, and a model without a floor writes it', async () => {
      const floorless = await loadRealEngine({ decoder, slots: 1, withoutFloor: true });
      try {
        for (const { path } of unknownClips()) {
          const transcript = await transcribeWith(engine, path);
          expect(transcript, path).to.include({ text: '', languageProbability: null });
          expect(transcript.segments).to.deep.equal([]);
          const guessed = await transcribeWith(floorless, path);
          expect(guessed.text, path).to.match(/\w+ \w+ \w+/);
          expect(guessed.unsureWindows).to.equal(0);
          expect(transcript.unsureWindows).to.be.at.least(1);
        }
      } finally {
        await floorless.close();
      }
    });

    it('gives the same texts when all are sent at once as one by one', async () => {
      const alone: string[] = [];
      for (const { path } of samples()) alone.push((await transcribeWith(engine, path)).text);
      const together = await Promise.all(
        samples().map(({ path }, n) => transcribeWith(engine, path, { accountId: `account-${n % 3}` })),
      );
      expect(together.map((transcript) => transcript.text)).to.deep.equal(alone);
      expect(engine.stats()).to.include({ busySlots: 0, queuedWindows: 0 });
    });

    it('keeps the place of speech on the time line, with silence between', async () => {
      const speech = pcmOfSample();
      const { text, seconds } = sample('en-wav16.wav');
      const starts = [20, 50 + seconds];
      writeWav(file('gaps.wav'), [pcmOfSilence(20), speech, pcmOfSilence(30), speech, pcmOfSilence(15)]);
      const transcript = await transcribeWith(engine, file('gaps.wav'), { language: 'en' });
      expect(wordErrors(`${text} ${text}`, transcript.text).edits).to.be.at.most(1);
      expect(transcript.segments.length).to.be.at.least(2);
      for (const segment of transcript.segments) {
        const within = starts.some(
          (start) => segment.startSeconds > start - 1 && segment.endSeconds < start + seconds + 1,
        );
        expect(within, `${segment.startSeconds}-${segment.endSeconds}`).to.equal(true);
      }
    });

    it('passes over long silence in steps, and loses nothing behind it', async () => {
      const speech = pcmOfSample();
      const { seconds } = sample('en-wav16.wav');
      writeWav(file('quiet.wav'), [pcmOfSilence(150), speech, pcmOfSilence(299.7), speech, pcmOfSilence(61)]);
      const reader = await loadBinding().openAudio(file('quiet.wav'), POLICY);
      const steps: string[] = [];
      const starts: number[] = [];
      for (let step = await reader.nextWindow(); step !== null; step = await reader.nextWindow()) {
        steps.push(typeof step === 'string' ? step.charAt(0) : 'w');
        if (typeof step !== 'string') starts.push(step.startSeconds);
      }
      expect(steps.join('')).to.match(/^ss?w+ssss?w+s?$/);
      expect(starts[0]).to.be.closeTo(150, 0.5);
      expect(starts.find((start) => start > 160)).to.be.closeTo(150 + seconds + 299.7, 0.5);
      expect(reader.positionSeconds).to.be.closeTo(150 + 299.7 + 61 + 2 * seconds, 0.01);
      reader.close();
    });

    it('detects nothing in silence', async () => {
      writeWav(file('silence.wav'), [pcmOfSilence(60)]);
      const transcript = await transcribeWith(engine, file('silence.wav'));
      expect(transcript).to.include({ text: '', language: 'en', languageProbability: null });
    });

    it('frees its slots after the windows that run when a long file is aborted in the middle', async () => {
      const { slots } = engine.stats();
      const seconds = writeRepeatedWav(file('long.wav'), [pcmOfSample(), pause(0.1)], 200);
      const cancel = new AbortController();
      let windows = 0;
      // Between two windows, so that it comes in the middle on a machine of any speed.
      windowDone = () => {
        if (++windows === 3) cancel.abort('enough');
      };
      const ended = transcribeWith(engine, file('long.wav'), { signal: cancel.signal }).then(
        () => 'done',
        (error: unknown) => error,
      );
      expect(await ended).to.equal('enough');
      await until(() => engine.stats().busySlots === 0);
      expect(engine.stats()).to.include({ queuedWindows: 0 });
      // Those of the same step, or of the other slots.
      expect(windows, `windows of ${seconds} s`).to.be.at.most(2 + (decoder === 'batched' ? DEFAULT_BATCH : slots));
      const { path, text } = sample('en-wav16.wav');
      expect(wordErrors(text, (await transcribeWith(engine, path)).text).edits).to.equal(0);
    });

    it('refuses what is no audio, and audio without samples', async () => {
      writeFileSync(file('text.wav'), 'This is a text.');
      writeWav(file('empty.wav'), []);
      const refused = (path: string): Promise<unknown> => transcribeWith(engine, path).catch((error: unknown) => error);
      expect(await refused(file('text.wav'))).to.include({ code: 'unsupported_audio_format' });
      expect(await refused(file('empty.wav'))).to.include({ code: 'invalid_audio' });
      expect(await refused(file('missing.wav')))
        .to.include({ code: 'io_error' })
        .and.have.property('message')
        .that.contains('No such file');
    });
  });
}
