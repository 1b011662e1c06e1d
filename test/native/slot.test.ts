import { join } from 'node:path';
import { expect } from 'chai';
import type { DecodeOptions, Slot, SpeechModel } from '../../src/engine/binding.js';
import { samples } from '../support/speech.js';
import {
  binding,
  failure,
  firstWindow,
  inDirectory,
  loadModel,
  POLICY,
  samplePath,
  windowsOf,
  writeTone,
} from './support.js';

describe('Addon: Slot', () => {
  let model: SpeechModel;
  let slot: Slot;

  before(async () => {
    model = await loadModel();
    slot = await model.createSlot({ threads: 1 });
  });

  after(() => {
    slot.close();
    model.close();
  });

  for (const sample of samples()) {
    it(`transcribes ${sample.file} on the file's time line and detects its language`, async () => {
      const reader = await binding.openAudio(sample.path, POLICY);
      const windows = await windowsOf(reader);
      reader.close();
      for (const window of windows) {
        const result = await slot.transcribe(window, { language: 'auto', ownLength: true });
        expect(result.language).to.equal(sample.language);
        const probabilities = result.languageProbabilities ?? {};
        expect(probabilities[sample.language]).to.be.greaterThan(0.5);
        const sum = Object.values(probabilities).reduce((total, probability) => total + probability, 0);
        expect(sum).to.be.closeTo(1, 0.001);
        expect(result.segments).to.not.be.empty;
        for (const segment of result.segments) {
          expect(segment.startSeconds).to.be.within(window.startSeconds - 0.001, window.endSeconds);
          expect(segment.endSeconds).to.be.within(segment.startSeconds, window.endSeconds + 0.001);
          expect(segment.noSpeechProbability).to.be.within(0, 1);
        }
        expect(result.averageLogProbability).to.be.within(-0.3, 0);
        expect(result.scoredTokens).to.be.greaterThan(result.segments.length);
        expect(result.timings).to.include({ encoderPasses: 1 });
        expect(result.timings.tokens).to.be.greaterThan(0);
        expect(result.timings.totalMs).to.be.at.least(result.timings.encodeMs);
        window.release();
      }
    });
  }

  it('gives text and no language probabilities when the language is given', async () => {
    const window = await firstWindow(samplePath('en-wav16.wav'));
    const result = await slot.transcribe(window, { language: 'en', ownLength: true });
    const [segment] = result.segments;
    expect(segment?.text.trim()).to.equal('Hello Emma, this is Laura.');
    expect(result).to.include({ language: 'en', languageProbabilities: null });
  });

  it('gives no average log-probability where nothing was decoded', async () => {
    const result = await inDirectory(async (directory) => {
      const path = join(directory, 'tone.wav');
      writeTone(path, 1);
      return slot.transcribe(await firstWindow(path), { language: 'en', ownLength: true });
    });
    expect(result.segments).to.deep.equal([]);
    expect(result).to.include({ averageLogProbability: null, scoredTokens: 0 });
  });

  it('gives the same answer from every slot and every time', async () => {
    const other = await model.createSlot({ threads: 2 });
    const window = await firstWindow(samplePath('de-flac.flac'));
    const texts = new Set<string>();
    for (const one of [slot, other, slot]) {
      const { segments } = await one.transcribe(window, { language: 'de', ownLength: true });
      texts.add(JSON.stringify(segments.map((segment) => segment.text)));
    }
    other.close();
    expect(texts.size).to.equal(1);
  });

  it('runs slots of a model in parallel on the same window', async () => {
    const others = await Promise.all([1, 2, 3].map(() => model.createSlot({ threads: 1 })));
    const window = await firstWindow(samplePath('en-wav16.wav'));
    const results = await Promise.all(
      others.map((other) => other.transcribe(window, { language: 'en', ownLength: true })),
    );
    for (const { segments } of results) expect(segments[0]?.text).to.contain('Laura');
    for (const other of others) other.close();
  });

  it('rejects a call that overlaps another', async () => {
    const window = await firstWindow(samplePath('en-wav16.wav'));
    const running = slot.transcribe(window, { language: 'en', ownLength: true });
    const error = await failure(slot.transcribe(window, { language: 'en', ownLength: true }));
    expect(error).to.include({ code: 'invalid_argument' });
    expect((await running).segments[0]?.text).to.contain('Laura');
  });

  it('finishes the running call when slot and window are let go in the middle, and refuses later ones', async () => {
    const own = await model.createSlot({ threads: 1 });
    const window = await firstWindow(samplePath('en-wav16.wav'));
    const running = own.transcribe(window, { language: 'en', ownLength: true });
    own.close();
    window.release();
    window.release();
    expect((await running).segments[0]?.text).to.contain('Laura');
    const closed = await failure(own.transcribe(await firstWindow(samplePath('en-wav16.wav')), { language: 'en' }));
    expect(closed).to.include({ code: 'invalid_argument' });
    expect(closed.message).to.contain('Slot has been closed');
    const released = await failure(slot.transcribe(window, { language: 'en' }));
    expect(released).to.include({ code: 'invalid_argument' });
    expect(released.message).to.contain('AudioWindow has been closed or released');
  });

  const wrongOptions: [unknown, string][] = [
    [undefined, 'options must be an object, got nothing.'],
    [{}, 'options.language is required.'],
    [{ language: 7 }, 'options.language must be a string, got 7.'],
    [{ language: 'en', task: 'sing' }, 'options.task must be "transcribe" or "translate", got "sing".'],
    [{ language: 'en', beamSize: 2.5 }, 'options.beamSize must be an integer, got 2.5.'],
    [{ language: 'en', beamSize: '5' }, 'options.beamSize must be an integer, got "5".'],
    [{ language: 'en', beamSize: Infinity }, 'options.beamSize must be an integer, got Infinity.'],
    [{ language: 'en', temperature: {} }, 'options.temperature must be a finite number, got an object.'],
    [{ language: 'en', logProbThreshold: 1e300 }, 'options.logProbThreshold must be a finite number, got 1e+300.'],
    [{ language: 'en', initialPrompt: ['a'] }, 'options.initialPrompt must be a string, got an array.'],
    [{ language: 'en', ownLength: 'yes' }, 'options.ownLength must be true or false, got "yes".'],
  ];
  for (const [options, message] of wrongOptions) {
    it(`says "${message}"`, async () => {
      const window = await firstWindow(samplePath('en-wav16.wav'));
      const error = await failure(slot.transcribe(window, options as DecodeOptions));
      expect(error).to.be.instanceOf(TypeError).and.include({ code: 'invalid_argument', message });
    });
  }

  it("leaves the options' ranges and the languages to the engine", async () => {
    const window = await firstWindow(samplePath('en-wav16.wav'));
    const code = async (options: DecodeOptions) => (await failure(slot.transcribe(window, options))).code;
    expect(await code({ language: 'xx' })).to.equal('unsupported_language');
    expect(await code({ language: 'en', beamSize: 1000 })).to.equal('invalid_argument');
    expect(await code({ language: 'en', temperature: -1 })).to.equal('invalid_argument');
  });
});
