/**
 * What the addon does where windows are decoded together, the fake of the engine's tests included: it stands for the
 * addon there.
 */
import { expect } from 'chai';
import type {
  AudioWindow,
  DecodeOptions,
  DecoderBatch,
  NativeBinding,
  Recogniser,
  WindowEncoder,
  WindowInFlight,
} from '../../src/engine/binding.js';
import { binding, failure, MODEL, POLICY } from '../native/support.js';
import { sample } from '../support/speech.js';
import { FakeBinding } from './fake-binding.js';
import { FakeClock } from './fake-clock.js';

interface Subject {
  binding: NativeBinding;
  clip: string;
  /** What the work resolves to; in virtual time, that passes meanwhile. */
  finish<T>(work: Promise<T>): Promise<T>;
}

const KINDS: Readonly<Record<string, () => Subject>> = {
  'The fake binding': () => {
    const clock = new FakeClock();
    const fake = new FakeBinding(clock);
    const clip = fake.addFile('clip', { seconds: 16 });
    return { binding: fake, clip, finish: (work) => clock.during(work) };
  },
  'The addon': () => ({ binding, clip: sample('en-vorbis.ogg').path, finish: (work) => work }),
};

const OPTIONS: DecodeOptions = { language: 'en', ownLength: true };

for (const [kind, start] of Object.entries(KINDS)) {
  describe(`${kind} keeps the contract for windows decoded together`, function () {
    this.timeout(60_000);
    let subject: Subject;
    let heldBefore: number;
    let model: Recogniser;
    let encoder: WindowEncoder;
    let batch: DecoderBatch;
    let windows: AudioWindow[];

    beforeEach(async () => {
      subject = start();
      heldBefore = subject.binding.heldBytes();
      model = await subject.finish(subject.binding.loadRecogniser(MODEL, { device: 'cpu' }));
      encoder = await subject.finish(model.createEncoder({ threads: 1 }));
      batch = await subject.finish(model.createBatch());
      const reader = await subject.finish(subject.binding.openAudio(subject.clip, POLICY));
      windows = [];
      while (windows.length < 2) {
        const window = await subject.finish(reader.nextWindow());
        if (window === null) return expect.fail('there are no two windows');
        if (typeof window !== 'string') windows.push(window);
      }
      reader.close();
    });
    afterEach(() => {
      for (const handle of [encoder, batch, model]) handle.close();
      for (const window of windows) window.release();
      expect(subject.binding.heldBytes()).to.equal(heldBefore);
    });

    const open = (index = 0, options = OPTIONS): WindowInFlight => model.openWindow(windows[index]!, options);
    const encode = async (window: WindowInFlight): Promise<void> => {
      while (window.stage === 'encode') await subject.finish(encoder.advance(window));
    };
    const decode = async (steps = 8): Promise<WindowInFlight[]> => {
      const left: WindowInFlight[] = [];
      while (batch.size > 0) left.push(...(await subject.finish(batch.advance({ steps, threads: 1 }))).left);
      return left;
    };
    const text = (window: WindowInFlight): string => {
      const { segments } = window.result();
      window.release();
      return segments.map((segment) => segment.text).join('');
    };
    const alone = async (index: number): Promise<string> => {
      const window = open(index);
      await encode(window);
      batch.add(window);
      await decode();
      return text(window);
    };
    const refused = async (call: Promise<unknown> | (() => unknown)): Promise<void> => {
      const error = await failure(typeof call === 'function' ? call : subject.finish(call));
      expect(error).to.include({ code: 'invalid_argument' });
    };

    it('takes a window through encoder and batch, and gives what came of it once', async () => {
      const window = open();
      expect(window.stage).to.equal('encode');
      await refused(() => window.result());
      await refused(() => batch.add(window));
      await encode(window);
      expect(window.stage).to.equal('decode');
      await refused(encoder.advance(window));
      await refused(() => window.result());
      batch.add(window);
      expect(batch.size).to.equal(1);
      const left = await decode();
      expect(left).to.have.length(1);
      expect(left[0]).to.equal(window);
      expect(window.stage).to.equal('done');
      const { segments, language, languageProbabilities, timings, scoredTokens } = window.result();
      expect(
        segments
          .map((segment) => segment.text)
          .join('')
          .trim(),
      ).not.to.equal('');
      expect(segments[0]?.startSeconds).to.be.at.least(windows[0]?.startSeconds ?? NaN);
      expect({ language, languageProbabilities }).to.deep.equal({
        language: 'en',
        languageProbabilities: null,
      });
      expect(timings.tokens).to.be.above(0);
      expect(scoredTokens).to.be.above(0);
      await refused(() => window.result());
      window.release();
      window.release();
      await refused(() => window.result());
      await refused(() => window.stage);
    });

    it('detects the language', async () => {
      const window = open(0, { language: 'auto', ownLength: true });
      await encode(window);
      batch.add(window);
      await decode();
      const { language, languageProbabilities } = window.result();
      expect(language).to.equal('en');
      expect(Object.values(languageProbabilities ?? {}).reduce((one, other) => one + other)).to.be.closeTo(1, 1e-3);
      window.release();
    });

    it('writes behind a prefix', async () => {
      expect(model.info.abilities.takesPrefix).to.equal(true);
      const plain = await alone(0);
      for (const prefix of [
        { text: plain.slice(0, plain.lastIndexOf(' ')), tokens: [] },
        { text: ' Something else', tokens: [] },
      ]) {
        const window = open(0, { ...OPTIONS, prefix });
        await encode(window);
        batch.add(window);
        await decode();
        expect(text(window).slice(0, prefix.text.length)).to.equal(prefix.text);
      }
    });

    it('says when each word was said, if it is asked to, and the same text', async () => {
      const plain = await alone(0);
      const window = open(0, { ...OPTIONS, align: true });
      await encode(window);
      batch.add(window);
      await decode();
      const { segments } = window.result();
      window.release();
      expect(segments.map(({ text: of }) => of).join('')).to.equal(plain);
      let at = windows[0]!.startSeconds;
      for (const segment of segments) {
        const { words = [] } = segment;
        expect(words.map((word) => word.text).join('')).to.equal(segment.text);
        expect(words[0]!.startSeconds).to.equal(segment.startSeconds);
        expect(words.at(-1)!.endSeconds).to.equal(segment.endSeconds);
        for (const word of words) {
          expect(word.startSeconds).to.be.at.least(at);
          expect(word.endSeconds).to.be.at.least(word.startSeconds);
          expect(word.probability).to.be.within(0, 1);
          at = word.endSeconds;
        }
      }
      expect(at).to.be.at.most(windows[0]!.endSeconds);
    });

    it('encodes windows in turns, and decodes together what it decodes alone', async () => {
      const texts = [await alone(0), await alone(1)];
      const pair = [open(0), open(1)];
      const other = await subject.finish(model.createEncoder({ threads: 1 }));
      for (let unit = 0; pair.some(({ stage }) => stage === 'encode'); unit++) {
        for (const window of pair) {
          const one = unit % 2 === 0 ? encoder : other;
          if (window.stage === 'encode') await subject.finish(one.advance(window));
        }
      }
      other.close();
      for (const window of pair) batch.add(window);
      expect(batch.size).to.equal(2);
      const first = await subject.finish(batch.advance({ steps: 2, threads: 1 }));
      expect(first).to.deep.include({ left: [], steps: 2 });
      expect(first.rows).to.be.at.least(4);
      await decode();
      expect(pair.map(text)).to.deep.equal(texts);
    });

    it('takes a window in while it runs, and gives its time to others when it leaves', async () => {
      const [one, two] = [open(0), open(1)];
      await encode(one);
      await encode(two);
      batch.add(one);
      const running = batch.advance({ steps: 2, threads: 1 });
      batch.add(two);
      await refused(() => batch.add(two));
      expect(two.stage).to.equal('decode');
      await refused(() => two.result());
      await subject.finish(running);
      expect(batch.size).to.equal(2);
      // It resolves when the first of them leaves.
      const { left } = await subject.finish(batch.advance({ steps: 1000, threads: 1 }));
      expect(left.length).to.be.at.least(1);
      await decode();
      for (const window of [one, two]) expect(text(window).trim()).not.to.equal('');
    });

    it('has nothing to do without windows', async () => {
      expect(batch.size).to.equal(0);
      const nothing = await subject.finish(batch.advance({ steps: 8, threads: 1 }));
      expect(nothing).to.deep.equal({ left: [], steps: 0, rows: 0 });
    });

    it('takes a window out that is aborted: at rest, in an encoder, in the batch', async () => {
      const aborted = async (window: WindowInFlight): Promise<void> => {
        expect(await failure(() => window.result())).to.include({ code: 'aborted' });
        window.release();
      };
      const rests = open();
      rests.abort();
      rests.abort();
      await aborted(rests);

      const encoding = open();
      const unit = encoder.advance(encoding);
      await refused(() => encoding.result());
      encoding.abort();
      await subject.finish(unit);
      await encode(encoding);
      await aborted(encoding);

      const decoding = open();
      await encode(decoding);
      batch.add(decoding);
      decoding.abort();
      const { left, rows } = await subject.finish(batch.advance({ steps: 8, threads: 1 }));
      expect(left).to.have.length(1);
      expect(rows).to.equal(0);
      expect(batch.size).to.equal(0);
      await aborted(decoding);
    });

    it('refuses what is out of range, and calls that overlap', async () => {
      for (const steps of [0, -1]) await refused(batch.advance({ steps, threads: 1 }));
      for (const threads of [0, 257]) {
        await refused(batch.advance({ steps: 1, threads }));
        const window = open(0);
        await refused(encoder.advance(window, { threads }));
        window.release();
      }
      const unknown = await failure(() => open(0, { language: 'xx' }));
      expect(unknown).to.include({ code: 'unsupported_language' });
      const [one, two] = [open(0), open(1)];
      const running = encoder.advance(one);
      await refused(encoder.advance(two));
      const other = await subject.finish(model.createEncoder({ threads: 1 }));
      await subject.finish(running);
      other.close();
      await encode(one);
      batch.add(one);
      const advancing = batch.advance({ steps: 1, threads: 1 });
      await refused(batch.advance({ steps: 1, threads: 1 }));
      await subject.finish(advancing);
      await decode();
      for (const window of [one, two]) window.release();
    });

    it('lets handles be closed in the middle of work, and refuses them afterwards', async () => {
      const [one, two] = [open(0), open(1)];
      await encode(one);
      batch.add(one);
      const unit = encoder.advance(two);
      const steps = batch.advance({ steps: 1, threads: 1 });
      for (const handle of [encoder, batch, model]) handle.close();
      for (const handle of [one, two, ...windows]) handle.release();
      await subject.finish(Promise.all([unit, steps]));
      await refused(() => batch.size);
      await refused(batch.advance({ steps: 1, threads: 1 }));
      await refused(() => model.openWindow(windows[0]!, OPTIONS));
      await refused(model.createEncoder({ threads: 1 }));
      await refused(model.createBatch());
      await refused(() => one.stage);
    });
  });
}
