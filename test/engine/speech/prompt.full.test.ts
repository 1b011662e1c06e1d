/** Words to expect: what reaches which window, and that no other gets them. */
import { expect } from 'chai';
import { initialPrompt } from '../../../src/engine/speech/initial-prompt.js';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { samples } from '../../support/speech.js';
import { fileOfWindows, type FakeWindow } from '../fake-audio.js';
import { measureAndTranscribe } from '../../support/transcribe.js';
import { Scenario } from './scenario.js';

describe('initialPrompt', () => {
  it('is text behind a space, without what is none', () => {
    const cases: [string, string][] = [
      ['Emma, Laura', ' Emma, Laura'],
      ['  Emma\u0000\t\u001b Laura\r\n', ' Emma Laura'],
      ['<|endoftext|> [_BEG_]', ' <|endoftext|> [_BEG_]'],
      ['', ''],
      [' \n\u0000\u00a0\u3000', ''],
    ];
    for (const [words, prompt] of cases) expect(initialPrompt(words), words).to.equal(prompt);
  });
});

describe('Transcriber: prompt', () => {
  const SPANISH = { en: 0.05, es: 0.9, de: 0.03, fr: 0.02 };
  const GERMAN = { en: 0.05, es: 0.02, de: 0.9, fr: 0.03 };
  const windows = (...probabilities: NonNullable<FakeWindow['probabilities']>[]): Partial<FakeWindow>[] =>
    probabilities.map((one) => ({ probabilities: one }));

  for (const kind of ['whisper.cpp', 'batched'] as const) {
    it(`is part of the prompt of every window of its file and of no other, decoded by ${kind}`, async () => {
      const decoder = kind === 'batched' ? ({ kind, compute: 'int8', windowsInFlight: 4 } as const) : { kind };
      const scene = await Scenario.start({ slots: 4, decoder });
      // The first window votes for another language than the one that wins, and runs once more.
      const voting = windows(GERMAN, SPANISH, SPANISH, SPANISH, SPANISH, SPANISH);
      for (const name of ['one', 'other', 'white']) scene.file(name, fileOfWindows(8, voting));
      void scene.send({ path: 'one', language: 'auto', prompt: 'Emma, Laura' });
      void scene.send({ path: 'other', language: 'auto', accountId: 'two' });
      void scene.send({ path: 'white', language: 'auto', prompt: ' \n' });
      await scene.finish();
      const prompts = (path: string) => scene.fake.runsOf(path).map((run) => run.options.initialPrompt);
      expect(prompts('one')).to.have.length(7);
      expect(new Set(prompts('one'))).to.deep.equal(new Set([' Emma, Laura']));
      for (const path of ['other', 'white']) {
        expect(prompts(path)).to.have.length(7);
        for (const { options } of scene.fake.runsOf(path)) expect(options).to.not.have.property('initialPrompt');
      }
    });
  }

  it('is passed to the translate task, too', async () => {
    const scene = await Scenario.start();
    scene.file('file', 20);
    void scene.send({ path: 'file', task: 'translate', prompt: 'Emma' });
    await scene.finish();
    const runs = scene.fake.runsOf('file');
    expect(runs).to.have.length.above(1);
    for (const { options } of runs) expect(options).to.include({ task: 'translate', initialPrompt: ' Emma' });
  });
});

for (const decoder of ['whisper.cpp', 'batched'] as const) {
  describe(`A prompt on the real addon and model, decoded by ${decoder}`, function () {
    this.timeout(120_000);
    const prompt = 'Hello Emma, this is Laura. My name is Laura.';
    let engine: SpeechEngine;

    before(async () => {
      engine = await loadRealEngine({ decoder, slots: decoder === 'batched' ? 2 : 1, withoutFloor: true });
    });
    after(() => engine.close());

    const text = async (path: string, reported?: string, accountId = 'one'): Promise<string> => {
      const file = { path, accountId, language: 'auto', prompt: reported };
      return (await measureAndTranscribe(engine, file)).text;
    };

    it('changes nothing for requests beside it and after it', async () => {
      const paths = samples().map(({ path }) => path);
      const alone: string[] = [];
      for (const path of paths) alone.push(await text(path));
      const requests = paths.flatMap((path) => [text(path, prompt, 'two'), text(path)]);
      const together = await Promise.all(requests);
      expect(together.filter((_, at) => at % 2 === 1)).to.deep.equal(alone);
      expect(together.filter((_, at) => at % 2 === 0)).to.not.deep.equal(alone);
      expect(await text(paths[0]!)).to.equal(alone[0]);
    });

    it('may be a thousand characters of anything', async () => {
      const { path } = samples()[0]!;
      const alone = await text(path);
      for (const blank of ['', ' '.repeat(1000), '\u0007'.repeat(1000)]) {
        expect(await text(path, blank), JSON.stringify(blank[0])).to.equal(alone);
      }
      for (const character of ['a', 'ß', '中', '🙂', '\ud800']) {
        expect(await text(path, character.repeat(1000)), character).to.be.a('string');
      }
      expect(await text(path, '<|endoftext|><|startoftranscript|><|translate|>'), 'special').to.be.a('string');
    });
  });
}
