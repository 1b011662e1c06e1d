import { expect } from 'chai';
import type { Transcript } from '../../../src/engine/types.js';
import type { FakeWindow } from '../fake-audio.js';
import { Scenario } from './scenario.js';

const FLOOR = -0.3;
const SURE = { averageLogProbability: -0.05 };
const UNSURE = { averageLogProbability: -0.6 };

/** The transcript of a file with a window of 8 s for each of these. */
async function transcriptOf(
  specs: Partial<FakeWindow>[],
  { floor = FLOOR, language = 'en' }: { floor?: number | null; language?: string } = {},
): Promise<Transcript> {
  const traits = floor === null ? {} : { minAverageLogProbability: floor };
  const scene = await Scenario.start({ slots: 2, ...traits });
  const windows = specs.map((spec, index) => ({
    startSeconds: 8 * index,
    endSeconds: 8 * index + 8,
    ...spec,
  }));
  scene.file('file', { seconds: 8 * specs.length, windows });
  void scene.send({ path: 'file', language });
  await scene.finish();
  return scene.transcript('file');
}

describe('Transcriber: text of which the model is not sure', () => {
  it('is left out, and counted', async () => {
    const transcript = await transcriptOf([UNSURE, UNSURE]);
    expect(transcript).to.deep.include({ text: '', segments: [], unsureWindows: 2 });
  });

  it('is kept by a model without a floor, whatever it is', async () => {
    const transcript = await transcriptOf([UNSURE, { averageLogProbability: -9 }], { floor: null });
    expect(transcript).to.include({ text: 'en0 en1', unsureWindows: 0 });
  });

  it('is what lies below the floor, not on it', async () => {
    for (const [averageLogProbability, text] of [[FLOOR, 'en0'] as const, [FLOOR - 0.001, ''] as const]) {
      expect((await transcriptOf([{ averageLogProbability }])).text).to.equal(text);
    }
  });

  it('is judged with two windows on either side', async () => {
    // One unsure of five: (4 x 0.05 + 0.6) / 5 = 0.16.
    const lone = await transcriptOf([SURE, SURE, UNSURE, SURE, SURE]);
    expect(lone).to.include({ text: 'en0 en1 en2 en3 en4', unsureWindows: 0 });
    // A lucky one among unsure ones goes with them.
    const lucky = await transcriptOf([UNSURE, UNSURE, SURE, UNSURE, UNSURE]);
    expect(lucky).to.include({ text: '', unsureWindows: 5 });
    // A recording that changes its kind: only windows near the change see the other half.
    const halves = await transcriptOf([...Array<object>(5).fill(SURE), ...Array<object>(5).fill(UNSURE)]);
    expect(halves).to.include({ text: 'en0 en1 en2 en3 en4', unsureWindows: 5 });
  });

  it('weighs windows by their tokens', async () => {
    const long = { averageLogProbability: -0.35, scoredTokens: 40 };
    expect(await transcriptOf([long, SURE])).to.include({ text: '', unsureWindows: 2 });
    expect(await transcriptOf([{ ...long, scoredTokens: 5 }, SURE])).to.include({ text: 'en0 en1' });
  });

  it('is looked for among windows with text only', async () => {
    const silent = { text: '' };
    const transcript = await transcriptOf([UNSURE, silent, silent, silent, SURE, silent]);
    expect(transcript).to.include({ text: '', unsureWindows: 2 });
    expect(await transcriptOf([silent, silent])).to.include({ text: '', unsureWindows: 0 });
  });

  it('has had its say in the language: that is detected from the sound', async () => {
    const probabilities = { en: 0.05, es: 0.9, de: 0.03, fr: 0.02 };
    const transcript = await transcriptOf([{ ...UNSURE, probabilities }], { language: 'auto' });
    expect(transcript).to.include({ text: '', language: 'es', languageProbability: null });
  });
});
