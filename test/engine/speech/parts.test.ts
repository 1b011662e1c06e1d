import { expect } from 'chai';
import fc from 'fast-check';
import type { TranscriptPart, WindowUpdate } from '../../../src/engine/types.js';
import { fileOfWindows, type FakeFile, type FakeWindow } from '../fake-audio.js';
import type { FakeRun } from '../fake-tally.js';
import { BATCHED } from './batched-scenario.js';
import { Scenario, type Request } from './scenario.js';

const FLOOR = -0.3;
const UNSURE = { averageLogProbability: -2 };
const SPANISH = { en: 0.05, es: 0.9, de: 0.03, fr: 0.02 };
const GERMAN = { en: 0.05, es: 0.02, de: 0.9, fr: 0.03 };

type Reported = TranscriptPart & { afterWindows: number };

const ended = ({ endMs, aborted }: FakeRun): boolean => endMs !== null && !aborted;

/** What was reported of a file, and how many windows had run by then. */
async function report(
  file: FakeFile,
  options: Parameters<typeof Scenario.start>[0] = {},
  request: Partial<Request> = {},
): Promise<{ scene: Scenario; parts: Reported[] }> {
  const scene = await Scenario.start({ slots: 2, ...options });
  scene.file('file', file);
  const parts: Reported[] = [];
  const onWindow = ({ part }: WindowUpdate): void => {
    if (part !== null) parts.push({ ...part, afterWindows: scene.fake.runs.filter(ended).length });
  };
  void scene.send({ path: 'file', ...request, onWindow });
  await scene.finish();
  return { scene, parts };
}

const specs = (count: number, spec: Partial<FakeWindow> = {}): Partial<FakeWindow>[] =>
  Array.from({ length: count }, () => spec);

const textOf = (parts: readonly Reported[]): string => parts.map(({ text }) => text).join('');

describe('Transcriber: a transcript that is reported while it is made', () => {
  it('comes window by window, with the segments of each', async () => {
    const { scene, parts } = await report(fileOfWindows(8, specs(3)), { slots: 1 });
    expect(parts.map(({ text, afterWindows }) => [text, afterWindows])).to.deep.equal([
      ['en0', 1],
      [' en1', 2],
      [' en2', 3],
    ]);
    expect(parts.flatMap(({ segments }) => segments)).to.deep.equal(scene.transcript('file').segments);
    expect(parts[0]!.language).to.equal('en');
  });

  it('waits for a window that others overtake', async () => {
    const windows = [{ endSeconds: 8 }, { startSeconds: 8, endSeconds: 9 }, { startSeconds: 9, endSeconds: 10 }];
    const { parts } = await report(fileOfWindows(8, windows), { slots: 2 });
    expect(parts.map(({ text }) => text)).to.deep.equal(['en0', ' en1', ' en2']);
  });

  it('reports nothing of windows without text', async () => {
    const { parts } = await report(fileOfWindows(8, [{ text: '' }, {}, { text: ' ' }, {}]), { slots: 1 });
    expect(parts.map(({ text }) => text)).to.deep.equal(['en1', ' en3']);
    expect((await report({ seconds: 5, windows: [] })).parts).to.deep.equal([]);
  });

  it('waits until the language is decided, and for windows that run again in it', async () => {
    const windows = [{ probabilities: GERMAN }, ...specs(5, { probabilities: SPANISH })];
    const { scene, parts } = await report(fileOfWindows(8, windows), { slots: 1 }, { language: 'auto' });
    expect(textOf(parts)).to.equal('es0 es1 es2 es3 es4 es5');
    const again = scene.fake.runs.findIndex(({ index, options }) => index === 0 && options.language === 'es');
    expect(parts[0]!.afterWindows).to.be.at.least(again);
    expect(parts.every(({ language }) => language === 'es')).to.equal(true);
  });

  it('waits for the windows by which a window is judged, and leaves out what is left out', async () => {
    const file = fileOfWindows(8, [...specs(4), ...specs(5, UNSURE), ...specs(4)]);
    const { scene, parts } = await report(file, { slots: 1, minAverageLogProbability: FLOOR });
    expect(parts[0]).to.include({ text: 'en0', afterWindows: 3 });
    expect(textOf(parts)).to.equal(scene.transcript('file').text);
    expect(scene.transcript('file').unsureWindows).to.be.above(4);
  });

  it('writes English where Whisper translates', async () => {
    const { scene, parts } = await report(
      fileOfWindows(8, specs(3, { text: 'yes', probabilities: SPANISH })),
      { translates: true },
      { task: 'translate', language: 'es' },
    );
    expect(textOf(parts)).to.equal('yes yes yes');
    expect(parts[0]!.language).to.equal('es');
    expect(scene.transcript('file').text).to.equal('yes yes yes');
  });

  describe('of ten minutes', () => {
    const tenMinutes = (spec = {}): FakeFile => fileOfWindows(8, specs(75, spec));
    for (const [what, language, floor, most] of [
      ['a language that is given', 'en', undefined, 1],
      ['a model with a floor', 'en', FLOOR, 3],
      ['a language to be detected', 'auto', undefined, 3],
      ['both', 'auto', FLOOR, 3],
    ] as const) {
      it(`begins after the first ${most} and what runs beside: ${what}`, async () => {
        const traits = floor === undefined ? {} : { minAverageLogProbability: floor };
        for (const [slots, options] of [
          [1, { slots: 1 }],
          [2, { slots: 2 }],
          [8, { decoder: BATCHED }],
        ] as const) {
          const { parts } = await report(tenMinutes(), { ...options, ...traits }, { language });
          expect(parts[0]!.afterWindows, `${slots}`).to.be.below(most + slots);
          expect(parts.length).to.be.at.least(75 / (2 * slots));
        }
      });
    }
  });

  for (const [name, decoder] of [
    ['whisper.cpp', { kind: 'whisper.cpp' }],
    ['batched', BATCHED],
  ] as const) {
    it(`joined is the transcript, each part once and in order: ${name}`, async () => {
      const window = fc.record({
        length: fc.integer({ min: 1, max: 8 }),
        text: fc.constantFrom('words', 'Words.', '', ' ', '今日は', '3', 'x'),
        language: fc.constantFrom('en', 'es', 'de'),
        averageLogProbability: fc.constantFrom(-0.1, -0.2, -0.5, -1),
        scoredTokens: fc.integer({ min: 1, max: 30 }),
        tokens: fc.integer({ min: 1, max: 30 }),
      });
      const scenes = fc.record({
        slots: fc.integer({ min: 1, max: 4 }),
        floor: fc.constantFrom(null, FLOOR),
        language: fc.constantFrom('en', 'auto'),
        windows: fc.array(window, { maxLength: 14 }),
      });
      await fc.assert(
        fc.asyncProperty(scenes, async ({ slots, floor, language, windows }) => {
          let at = 0;
          const file = windows.map(({ length, language: spoken, ...spec }) => ({
            ...spec,
            startSeconds: at,
            endSeconds: (at += length),
            probabilities: { en: 0.1, es: 0.1, de: 0.1, fr: 0.1, [spoken]: 0.7 },
          }));
          const traits = floor === null ? {} : { minAverageLogProbability: floor };
          const { scene, parts } = await report(
            { seconds: at + 1, windows: file },
            { slots, decoder, ...traits },
            { language },
          );
          const transcript = scene.transcript('file');
          expect(textOf(parts)).to.equal(transcript.text);
          expect(parts.flatMap(({ segments }) => segments)).to.deep.equal(transcript.segments);
          for (const part of parts) expect(part.language).to.equal(transcript.language);
        }),
        { numRuns: 150 },
      );
    });
  }
});
