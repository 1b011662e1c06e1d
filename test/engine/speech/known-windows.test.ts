/** A file whose transcription was broken off, transcribed from where it had come to. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { WindowResult } from '../../../src/engine/binding.js';
import type { Transcript } from '../../../src/engine/types.js';
import { fileOfWindows, type FakeFile, type FakeWindow } from '../fake-audio.js';
import { Scenario } from './scenario.js';

const SPANISH = { en: 0.05, es: 0.9, de: 0.03, fr: 0.02 };
const GERMAN = { en: 0.05, es: 0.02, de: 0.9, fr: 0.03 };
const UNSURE = -0.9;
const FLOOR = -0.3;

interface Run {
  transcript: Transcript;
  /** In the order in which they were reported. */
  finished: [number, WindowResult][];
  text: string;
  /** Windows that were decoded. */
  decoded: number;
  transcribed: number[];
}

async function run(file: FakeFile, known: readonly [number, WindowResult][] = []): Promise<Run> {
  const scene = await Scenario.start({ slots: 3, minAverageLogProbability: FLOOR });
  scene.file('file', file);
  const finished: Run['finished'] = [];
  const transcribed: number[] = [];
  let text = '';
  void scene.send({
    ...{ path: 'file', language: 'auto', resumeFrom: new Map(known) },
    onWindow: (update) => {
      if (update.finished !== null) finished.push([update.finished.index, update.finished.result]);
      if (update.seconds !== transcribed.at(-1)) transcribed.push(update.seconds);
      text += update.part?.text ?? '';
    },
  });
  await scene.finish();
  expect(scene.fake).to.include({ openReaders: 0, decodedWindows: 0 });
  return {
    transcript: scene.transcript('file'),
    finished,
    text,
    decoded: scene.fake.runs.length,
    transcribed,
  };
}

const untimed = (transcript: Transcript): object => ({ ...transcript, timings: null });

describe('Transcriber: windows that are known', () => {
  it('are not decoded again, and count as transcribed', async () => {
    const file = fileOfWindows(
      8,
      Array.from({ length: 6 }, () => ({})),
    );
    const whole = await run(file);
    expect(whole.decoded).to.equal(6);
    const rest = await run(file, whole.finished.slice(0, 4));
    expect(rest.decoded).to.equal(2);
    expect(rest.transcribed).to.deep.equal([8, 16, 24, 32, 40, 48]);
    expect(rest.finished.map(([index]) => index)).to.deep.equal([4, 5]);
    expect((await run(file, whole.finished)).decoded).to.equal(0);
  });

  it('give the same transcript, language and text, wherever it was broken off', async () => {
    const window = fc.record({
      probabilities: fc.constantFrom(SPANISH, SPANISH, GERMAN),
      text: fc.constantFrom('', undefined, undefined, undefined),
      averageLogProbability: fc.constantFrom(-0.05, -0.05, UNSURE),
    });
    const spec = ({
      text,
      ...rest
    }: Omit<Partial<FakeWindow>, 'text'> & { text: string | undefined }): Partial<FakeWindow> =>
      text === undefined ? rest : { ...rest, text };
    await fc.assert(
      fc.asyncProperty(fc.array(window, { minLength: 1, maxLength: 12 }), fc.nat(), async (specs, cut) => {
        const file = fileOfWindows(8, specs.map(spec));
        const whole = await run(file);
        const known = whole.finished.slice(0, cut % (whole.finished.length + 1));
        const rest = await run(file, known);
        expect(untimed(rest.transcript)).to.deep.equal(untimed(whole.transcript));
        expect(rest.text).to.equal(whole.text);
        expect(rest.finished).to.have.length(whole.finished.length - known.length);
      }),
      { numRuns: 200 },
    );
  });
});
