import { expect } from 'chai';
import type {
  AlignTextOptions,
  AttentionHead,
  AudioReader,
  AudioWindow,
  AlignableRecogniser,
  TextAlignment,
} from '../../../src/engine/binding.js';
import { measureHeads } from '../../../src/models/alignment/head-measurement.js';
import type { TimedClip } from '../../../src/models/alignment/timed-clips.js';
import { POLICY } from '../../native/support.js';

const WORDS = [
  { word: 'Guten', start: 0.5, end: 1 },
  { word: 'Tag.', start: 1, end: 1.5 },
  { word: 'Wie', start: 5, end: 5.25 },
  { word: "geht's?", start: 5.25, end: 6 },
];
const CLIP: TimedClip = {
  ...{ path: 'a.wav', language: 'de', text: "Guten Tag. Wie geht's?", kind: null, voices: null },
  words: WORDS,
};

/** Two layers of two heads. How late each one's word times are, seconds. */
const LATE: Record<string, number> = { '0.0': 1, '0.1': 0.1875, '1.0': -0.125, '1.1': 2 };

class FakeAligner {
  readonly asked: AlignTextOptions[] = [];
  open = 0;

  readonly recogniser = {
    info: { languages: ['de', 'en'] },
    decoderHeads: { layers: 2, heads: 2, alignment: [] },
    alignText: (_: AudioWindow, options: AlignTextOptions): Promise<TextAlignment> => {
      this.asked.push(options);
      const words = options.text.split(/(?= )/);
      const times = options.headSets.map((set) => ({
        startSeconds: words.map((word) => this.startOf(word.trim()) + this.lateness(set)),
        endSeconds: words.map(() => 0),
      }));
      return Promise.resolve({ words, times });
    },
  } as unknown as AlignableRecogniser;

  /** Windows of 4 s, the second one without words. */
  readonly binding = {
    openAudio: (): Promise<AudioReader> => {
      const steps = [this.window(0, 2), 'reading', this.window(2, 4), 'silence', this.window(4, 7), null];
      return Promise.resolve({
        nextWindow: () => Promise.resolve(steps.shift()),
        close: () => undefined,
      } as unknown as AudioReader);
    },
  };

  private window(startSeconds: number, endSeconds: number): AudioWindow {
    this.open++;
    return {
      startSeconds,
      endSeconds,
      pieces: [{ startSeconds, endSeconds }],
      speech: [],
      release: () => {
        this.open--;
      },
    };
  }

  private startOf(word: string): number {
    return WORDS.find((one) => one.word === word)!.start;
  }

  private lateness(set: readonly AttentionHead[]): number {
    const errors = set.map(({ layer, head }) => LATE[`${layer}.${head}`]!);
    return errors.reduce((a, b) => a + b, 0) / set.length;
  }
}

describe('Measurement of alignment heads', () => {
  it('lays the words of each window along it by every head, and then by sets', async () => {
    const { asked, binding, recogniser } = new FakeAligner();
    const passes: number[] = [];
    const selection = await measureHeads({
      ...{ binding, recogniser, policy: POLICY, clips: [CLIP], threads: 2 },
      onPass: (sets) => passes.push(sets),
    });
    expect(selection.alone.map(({ heads: [head], meanError }) => [head, meanError])).to.deep.equal([
      [{ layer: 1, head: 0 }, 0.125],
      [{ layer: 0, head: 1 }, 0.1875],
      [{ layer: 0, head: 0 }, 1],
      [{ layer: 1, head: 1 }, 2],
    ]);
    expect(selection.grown.at(-1)?.heads).to.deep.equal([
      { layer: 1, head: 0 },
      { layer: 0, head: 1 },
    ]);
    expect(passes).to.deep.equal([4, 1]);
    expect(asked.slice(0, 2).map(({ text }) => text)).to.deep.equal([' Guten Tag.', " Wie geht's?"]);
    expect(asked[0]).to.include({ language: 'de', ownLength: true, threads: 2 });
  });

  it('leaves no window behind', async () => {
    const aligner = new FakeAligner();
    const { binding, recogniser } = aligner;
    await measureHeads({ binding, recogniser, policy: POLICY, clips: [CLIP], threads: 1 });
    expect(aligner.open).to.equal(0);
  });

  it('refuses clips in a language that the model does not know, and clips without words', async () => {
    const { binding, recogniser } = new FakeAligner();
    const refusal = (clip: TimedClip): Promise<unknown> =>
      measureHeads({ binding, recogniser, policy: POLICY, clips: [clip], threads: 1 }).catch((error: unknown) => error);
    expect(await refusal({ ...CLIP, language: 'it' }))
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.contains('a.wav is in "it"');
    expect(await refusal({ ...CLIP, words: [] }))
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.contains('no words');
  });
});
