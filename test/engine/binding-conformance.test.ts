/**
 * What the addon does for the speech engine, the fake of the engine's tests included: it stands for the addon there.
 */
import { getEventListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type {
  AudioReader,
  AudioWindow,
  DecodeOptions,
  NativeBinding,
  Slot,
  SpeechModel,
} from '../../src/engine/binding.js';
import { binding, ENDLESS_WORK, failure, MODEL, POLICY } from '../native/support.js';
import { pcmOfSample, pcmOfSilence, sample, writeWav } from '../support/speech.js';
import { FakeBinding } from './fake-binding.js';
import { FakeClock } from './fake-clock.js';

interface Subject {
  binding: NativeBinding;
  /** What the work resolves to; in virtual time, that passes meanwhile. */
  finish<T>(work: Promise<T>): Promise<T>;
}

interface Files {
  clip: string;
  /** 150 s without signal, then speech. */
  quiet: string;
  broken: string;
  text: string;
}

interface Kind {
  name: string;
  write(directory: string): Files;
  start(files: Files): Subject;
}

const KINDS: readonly Kind[] = [
  {
    name: 'The fake binding',
    write: () => ({ clip: 'clip', quiet: 'quiet', broken: 'broken', text: 'text' }),
    start: (files) => {
      const clock = new FakeClock();
      const fake = new FakeBinding(clock);
      fake.addFile(files.clip, { seconds: 20, measureSteps: 3 });
      fake.addFile(files.quiet, { seconds: 153, windows: [{ startSeconds: 150, endSeconds: 153 }] });
      fake.addFile(files.broken, { seconds: 1, openError: 'invalid_audio' });
      fake.addFile(files.text, { seconds: 1, openError: 'unsupported_audio_format' });
      return { binding: fake, finish: (work) => clock.during(work) };
    },
  },
  {
    name: 'The addon',
    write: (directory) => {
      const quiet = join(directory, 'quiet.wav');
      const broken = join(directory, 'broken.wav');
      const text = join(directory, 'text');
      writeWav(quiet, [pcmOfSilence(150), pcmOfSample()]);
      writeFileSync(broken, 'RIFF\0\0\0\0WAVE');
      writeFileSync(text, 'This is a text.');
      return { clip: sample('en-vorbis.ogg').path, quiet, broken, text };
    },
    start: () => ({ binding, finish: (work) => work }),
  },
];

for (const kind of KINDS) {
  describe(`${kind.name} keeps the contract for speech`, function () {
    this.timeout(60_000);
    let directory: string;
    let files: Files;
    let subject: Subject;
    let heldBefore: number;
    let reader: AudioReader;
    let model: SpeechModel;
    let slot: Slot;
    let window: AudioWindow;

    before(() => {
      directory = mkdtempSync(join(tmpdir(), 'verbatim-binding-'));
      files = kind.write(directory);
    });
    after(() => rmSync(directory, { recursive: true }));

    beforeEach(async () => {
      subject = kind.start(files);
      heldBefore = subject.binding.heldBytes();
      reader = await open(files.clip);
      model = await subject.finish(subject.binding.loadSpeechModel(MODEL, { device: 'cpu' }));
      slot = await subject.finish(model.createSlot({ threads: 1 }));
      const first = await subject.finish(reader.nextWindow());
      if (first === null || typeof first === 'string') return expect.fail('there is no window');
      window = first;
    });
    afterEach(() => {
      window.release();
      for (const handle of [reader, slot, model]) handle.close();
    });

    const open = (path: string): Promise<AudioReader> => subject.finish(subject.binding.openAudio(path, POLICY));
    const transcribe = (options: DecodeOptions = { language: 'en', ownLength: true }, signal?: AbortSignal) =>
      slot.transcribe(window, options, signal === undefined ? {} : { signal });
    const refused = async (work: Promise<unknown>): Promise<void> => {
      expect(await subject.finish(failure(work))).to.include({ code: 'invalid_argument' });
    };

    it('opens audio alone, and says what else it is', async () => {
      expect(await failure(open(join(directory, 'nothing')))).to.include({ code: 'io_error' });
      expect(await failure(open(files.text))).to.include({ code: 'unsupported_audio_format' });
      expect(await failure(open(files.broken))).to.include({ code: 'invalid_audio' });
    });

    it('measures in steps up to the duration, and moves no position by it', async () => {
      const fresh = await open(files.clip);
      expect(fresh.measuredSeconds).to.equal(0);
      let seconds: number | null = null;
      for (let last = 0; seconds === null; last = fresh.measuredSeconds) {
        seconds = await subject.finish(fresh.measure());
        expect(fresh.measuredSeconds).to.be.above(last);
      }
      expect(fresh.measuredSeconds).to.equal(seconds);
      expect(fresh.measuredSamples / seconds).to.be.closeTo(fresh.info.sampleRate * fresh.info.channels, 1);
      expect(fresh.positionSeconds).to.equal(0);
      expect(await subject.finish(fresh.measure()), 'asked again').to.equal(seconds);
      fresh.close();
    });

    it('cuts windows in their order, then answers null for good', async () => {
      const fresh = await open(files.clip);
      let end = 0;
      for (;;) {
        const next = await subject.finish(fresh.nextWindow());
        if (next === null) break;
        if (typeof next === 'string') continue;
        expect(next.startSeconds).to.be.at.least(end);
        expect(next.endSeconds - next.startSeconds).to.be.within(0, POLICY.maxSeconds + 1e-6);
        end = next.endSeconds;
        expect(fresh.positionSeconds).to.be.at.least(end - 1e-6);
        next.release();
      }
      expect(end).to.be.above(1);
      expect(await subject.finish(fresh.nextWindow())).to.equal(null);
      fresh.close();
    });

    it('passes over a minute of silence at a time', async () => {
      const quiet = await open(files.quiet);
      for (const passed of [1, 2]) {
        expect(await subject.finish(quiet.nextWindow())).to.equal('silence');
        expect(quiet.positionSeconds).to.be.within(55 * passed, 65 * passed);
      }
      const next = await subject.finish(quiet.nextWindow());
      expect(next).to.have.property('startSeconds').that.is.within(145, 152);
      (next as AudioWindow).release();
      quiet.close();
    });

    it('refuses calls on a reader that overlap, and finishes the first', async () => {
      const fresh = await open(files.clip);
      const cut = fresh.nextWindow();
      const second = failure(fresh.nextWindow());
      const measured = failure(fresh.measure());
      const next = await subject.finish(cut);
      expect(next).to.have.property('startSeconds');
      await refused(second.then((error) => Promise.reject(error)));
      await refused(measured.then((error) => Promise.reject(error)));
      (next as AudioWindow).release();
      fresh.close();
    });

    it('refuses what is closed; a call that runs while its reader is closed is finished', async () => {
      const fresh = await open(files.clip);
      const cut = fresh.nextWindow();
      fresh.close();
      fresh.close();
      const next = await subject.finish(cut);
      expect(next).to.have.property('startSeconds');
      (next as AudioWindow).release();
      await refused(fresh.measure());
      await refused(fresh.nextWindow());
      slot.close();
      slot.close();
      await refused(transcribe());
      model.close();
      model.close();
      await refused(model.createSlot({ threads: 1 }));
    });

    it('reports the language’s likelihoods where it was to detect one, and only there', async () => {
      const detected = await subject.finish(transcribe({ language: 'auto', ownLength: true }));
      expect(detected.language).to.equal('en');
      expect(detected.languageProbabilities).to.have.property('en').that.is.within(0, 1);
      const { language, languageProbabilities } = await subject.finish(transcribe());
      expect({ language, languageProbabilities }).to.deep.equal({
        language: 'en',
        languageProbabilities: null,
      });
    });

    it('says when each word was said, if it is asked to, and the same text', async () => {
      const { segments: plain } = await subject.finish(transcribe());
      expect(plain.map(({ words }) => words)).to.deep.equal(plain.map(() => undefined));
      const options = { language: 'en', ownLength: true, align: true };
      const { segments } = await subject.finish(transcribe(options));
      expect(segments.map(({ text }) => text)).to.deep.equal(plain.map(({ text }) => text));
      for (const { text, startSeconds, endSeconds, words = [] } of segments) {
        expect(words.map((word) => word.text).join('')).to.equal(text);
        expect(words[0]!.startSeconds).to.equal(startSeconds).and.to.be.at.least(window.startSeconds);
        expect(words.at(-1)!.endSeconds).to.equal(endSeconds).and.to.be.at.most(window.endSeconds);
      }
    });

    it('refuses a released window, a language that is not the model’s, and a device that is not there', async () => {
      const unknown = await subject.finish(failure(transcribe({ language: 'xx', ownLength: true })));
      expect(unknown).to.include({ code: 'unsupported_language' });
      const { startSeconds } = window;
      window.release();
      window.release();
      expect(window.startSeconds).to.equal(startSeconds);
      await refused(transcribe());
      const elsewhere = subject.binding.loadSpeechModel(MODEL, { device: 'cuda:99' });
      expect(await subject.finish(failure(elsewhere))).to.include({ code: 'device_unavailable' });
    });

    it('runs one call of a slot at a time, aborts it, and leaves the slot usable and the signal alone', async () => {
      const controller = new AbortController();
      const { signal } = controller;
      const running = failure(transcribe(ENDLESS_WORK, signal));
      expect(await failure(transcribe())).to.include({ code: 'invalid_argument' });
      controller.abort('enough');
      expect(await subject.finish(running)).to.include({ code: 'aborted' });
      expect(getEventListeners(signal, 'abort')).to.have.length(0);
      expect((await subject.finish(transcribe())).segments).to.have.length.above(0);
      const unused = new AbortController().signal;
      await subject.finish(transcribe(undefined, unused));
      expect(getEventListeners(unused, 'abort')).to.have.length(0);
    });

    it('refuses at once what was aborted before, without taking the slot', async () => {
      const running = transcribe();
      expect(await failure(transcribe(ENDLESS_WORK, AbortSignal.abort()))).to.include({ code: 'aborted' });
      expect((await subject.finish(running)).language).to.equal('en');
    });

    it('closes a slot at work once the work is done, and then holds nothing', async () => {
      const running = transcribe();
      model.close();
      slot.close();
      reader.close();
      expect(subject.binding.heldBytes()).to.be.above(heldBefore);
      expect((await subject.finish(running)).language).to.equal('en');
      window.release();
      for (const handle of [model, slot, reader]) handle.close();
      await new Promise((resolve) => setImmediate(resolve));
      expect(subject.binding.heldBytes()).to.equal(heldBefore);
    });
  });
}
