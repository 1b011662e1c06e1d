import { expect } from 'chai';
import type { FileToTranscribe, SpeechEngine, Transcript } from '../../src/engine/types.js';
import { ModelRefused } from '../../src/errors.js';
import { CHECK_CLIP, checkModel } from '../../src/service/model-check.js';

const DECODING = { windowStartSeconds: 0, tokens: [1, 2], averageLogProbability: -0.1, temperature: 0 };
const SEGMENT = {
  ...{ startSeconds: 0, endSeconds: 2, text: CHECK_CLIP.text, noSpeechProbability: 0.01 },
  decoding: DECODING,
};
const TIMINGS = { queueMs: 0, readMs: 0, speechMs: 0, inferenceMs: 0 };
const RECOGNISED: Transcript = {
  ...{ durationSeconds: 2, language: 'es', languageProbability: null, text: CHECK_CLIP.text },
  ...{ segments: [SEGMENT], windows: 1, unsureWindows: 0, timings: TIMINGS },
};

interface Wanted {
  knowsText?: boolean;
  languages?: string[];
  leastSpeed?: number;
}

describe('The check of a model', () => {
  let asked: FileToTranscribe[];

  beforeEach(() => (asked = []));

  const check = (
    recognised: Partial<Transcript> = {},
    { knowsText = false, languages = ['en', 'es'], leastSpeed }: Wanted = {},
  ): Promise<void> => {
    const transcribe = (file: FileToTranscribe): Promise<Transcript> => {
      asked.push(file);
      return Promise.resolve({ ...RECOGNISED, ...recognised });
    };
    const info = { modelName: 'mine', languages } as unknown as SpeechEngine['info'];
    const engine = { info, measure: () => Promise.resolve(2), transcribe };
    return checkModel({ engine, knowsText, leastSpeed }, new AbortController().signal);
  };
  const segments = (changed: object): Partial<Transcript> => ({
    segments: [SEGMENT, { ...SEGMENT, ...changed }] as Transcript['segments'],
  });

  const refusal = async (...how: Parameters<typeof check>): Promise<string> => {
    try {
      await check(...how);
    } catch (error) {
      expect(error).to.be.instanceOf(ModelRefused);
      return (error as Error).message;
    }
    return expect.fail('was let in');
  };

  it('asks for the clip in its language, or in one that the model speaks, in nobody’s way', async () => {
    await check();
    await check({}, { languages: ['de'] });
    expect(asked.map(({ language }) => language)).to.deep.equal(['es', 'de']);
    expect(asked[0]).to.include({ path: CHECK_CLIP.path, background: true, describe: true });
  });

  it('lets in whatever detects something, and the bundled model when that is what is said', async () => {
    await check({ text: 'Something else.' });
    await check({ text: 'hoy es domingo dieciocho de mayo' }, { knowsText: true });
    await check({ text: '', segments: [], unsureWindows: 1 });
  });

  it('refuses one that detects something else where it is known what is said', async () => {
    expect(await refusal({ text: 'Hoy es lunes.' }, { knowsText: true })).to.equal(
      `"mine" recognised "Hoy es lunes." where "${CHECK_CLIP.text}" is spoken.`,
    );
  });

  it('tries one that is too slow twice more, and lets it in as soon as it is fast enough', async () => {
    const taking = (...seconds: number[]): Partial<Transcript> => ({
      get timings() {
        return { ...TIMINGS, inferenceMs: 1000 * seconds[Math.min(asked.length, seconds.length) - 1]! };
      },
    });
    expect(await refusal(taking(30, 20, 16), { leastSpeed: 2 })).to.equal(
      '"mine" runs at 1.9 times real time here; required: 2.',
    );
    expect(asked).to.have.length(3);
    asked = [];
    await check(taking(30, 15), { leastSpeed: 2 });
    expect(asked).to.have.length(2);
  });

  it('refuses one that detects nothing', async () => {
    expect(await refusal({ text: ' ', segments: [] })).to.equal('"mine" recognises nothing in a clip of speech.');
  });

  it('refuses one whose numbers are none, in this process or as another one sends them', async () => {
    for (const averageLogProbability of [NaN, -Infinity, null])
      expect(await refusal(segments({ decoding: { ...DECODING, averageLogProbability } }))).to.equal(
        '"mine" reports values that are not numbers.',
      );
    for (const changed of [{ noSpeechProbability: null }, { endSeconds: NaN }])
      expect(await refusal(segments(changed))).to.equal('"mine" reports values that are not numbers.');
    expect(await refusal({ durationSeconds: NaN })).to.contain('the length of a clip');
  });

  it('refuses one that returns a text without tokens', async () => {
    for (const decoding of [undefined, { ...DECODING, tokens: [] }])
      expect(await refusal(segments({ decoding }))).to.equal('"mine" reports a text without its tokens.');
  });
});
