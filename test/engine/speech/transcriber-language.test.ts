import { expect } from 'chai';
import { FAKE_POLICY, fileOfWindows } from '../fake-audio.js';
import { Scenario } from './scenario.js';

const SPANISH = { en: 0.05, es: 0.9, de: 0.03, fr: 0.02 };
const GERMAN = { en: 0.05, es: 0.02, de: 0.9, fr: 0.03 };

function repeat<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}

describe('Transcriber: language', () => {
  const DETECTS_NONE = {
    abilities: {
      ...{ detectsLanguage: false, translates: false, takesPrompt: false, takesTemperature: false },
      ...{ takesPrefix: false, timesWords: true },
    },
  };
  const TEXTS = {
    es: 'Creo que mañana va a llover, dijo el hombre.',
    de: 'Ich glaube, morgen wird es regnen, sagte der Mann.',
    number: '1 2 3',
  };

  it('is that of the text where the model detects none: its windows vote, and none runs again', async () => {
    const scene = await Scenario.start({ slots: 4 }, DETECTS_NONE);
    expect(scene.engine.info.abilities.detectsLanguage).to.equal(true);
    const texts = [TEXTS.number, TEXTS.de, TEXTS.es, TEXTS.es, TEXTS.es];
    scene.file(
      'file',
      fileOfWindows(
        7,
        texts.map((text) => ({ text })),
      ),
    );
    const parts: string[] = [];
    void scene.send({
      path: 'file',
      language: 'auto',
      onWindow: ({ part }) => void parts.push(...(part === null ? [] : [part.language])),
    });
    await scene.finish();
    expect(scene.transcript('file')).to.include({ language: 'es', languageProbability: null });
    expect(scene.transcript('file').text).to.equal(texts.join(' '));
    expect(parts).to.deep.equal(repeat(5, 'es'));
    const asked = scene.fake.runsOf('file').map(({ options }) => options);
    expect(asked.map(({ language }) => language)).to.not.include('auto');
    expect(asked.filter((options) => 'languageGuess' in options)).to.deep.equal([]);
    expect(asked).to.have.lengthOf(5);
  });

  it('is one of the wanted ones, whatever the text looks like', async () => {
    const scene = await Scenario.start({ languages: ['fr', 'de'] }, DETECTS_NONE);
    scene.file('spanish', fileOfWindows(8, [{ text: TEXTS.es }]));
    scene.file('numbers', fileOfWindows(8, [{ text: TEXTS.number }]));
    for (const path of ['spanish', 'numbers']) {
      void scene.send({ path, language: 'auto' });
      await scene.finish();
      expect(scene.engine.info.languages, path).to.include(scene.transcript(path).language);
    }
  });

  it('is named by the request where not even the text shows which is spoken', async () => {
    const settings = { ...DETECTS_NONE, languages: ['mt', 'de'] };
    const scene = await Scenario.start({}, settings);
    expect(scene.engine.info.abilities.detectsLanguage).to.equal(false);
    scene.file('auto', 8);
    scene.file('named', 8);
    void scene.send({ path: 'auto', language: 'auto' });
    void scene.send({ path: 'named', language: 'de' });
    await scene.finish();
    expect(scene.outcomes.get('auto')?.error).to.include({ code: 'unsupported_language', param: 'language' });
    expect(scene.transcript('named')).to.include({ language: 'de', text: 'de0' });
  });

  it('is one of those that somebody else says, where the file of the model names none', async () => {
    const scene = await Scenario.start({ languages: ['fi', 'et'] }, { languages: [] });
    expect(scene.engine.info.languages).to.deep.equal(['fi', 'et']);
    await scene.engine.close();
    let refusal: unknown;
    await Scenario.start({}, { languages: [] }).catch((error: unknown) => (refusal = error));
    expect(refusal).to.be.instanceOf(RangeError);
  });

  it('lets the windows of the first 30 s vote, and decodes the rest in the language that won', async () => {
    const scene = await Scenario.start({ slots: 4 });
    scene.file('file', fileOfWindows(8, repeat(10, { probabilities: SPANISH })));
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    const languages = scene.fake.runsOf('file').map((run) => run.options.language);
    expect(languages).to.deep.equal([...repeat(3, 'auto'), ...repeat(7, 'es')]);
    const transcript = scene.transcript('file');
    expect(transcript.language).to.equal('es');
    expect(transcript.languageProbability).to.be.closeTo(0.9, 0.01);
    expect(transcript.text).to.equal('es0 es1 es2 es3 es4 es5 es6 es7 es8 es9');
  });

  it('runs windows again that were decoded in another language than the one that won', async () => {
    const scene = await Scenario.start({ slots: 4 });
    const specs = [{ probabilities: GERMAN }, ...repeat(5, { probabilities: SPANISH })];
    scene.file('file', fileOfWindows(8, specs));
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    expect(scene.transcript('file').text).to.equal('es0 es1 es2 es3 es4 es5');
    const first = scene.fake.runsOf('file').filter((run) => run.index === 0);
    expect(first.map((run) => run.options.language)).to.deep.equal(['auto', 'es']);
    expect(scene.fake.runs).to.have.lengthOf(7);
    expect(scene.fake).to.include({ openReaders: 0, decodedWindows: 0 });
  });

  it('runs them again at the end of a file that is all vote', async () => {
    const scene = await Scenario.start({ slots: 1 });
    scene.file('file', fileOfWindows(5, [{ probabilities: GERMAN }, ...repeat(2, { probabilities: SPANISH })]));
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    expect(scene.transcript('file')).to.include({ language: 'es', text: 'es0 es1 es2' });
    expect(scene.transcript('file').segments.map((segment) => segment.startSeconds)).to.deep.equal([0, 5, 10]);
  });

  it('shows a later voter the language that leads', async () => {
    const scene = await Scenario.start({ slots: 1 });
    scene.file('file', fileOfWindows(8, repeat(3, { probabilities: SPANISH })));
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    const guesses = scene.fake.runsOf('file').map((run) => run.options.languageGuess);
    expect(guesses).to.deep.equal([undefined, 'es', 'es']);
  });

  it('weights votes by length and by certainty', async () => {
    const scene = await Scenario.start({ slots: 1 });
    scene.file('file', {
      seconds: 12,
      windows: [
        { startSeconds: 0, endSeconds: 2, probabilities: { en: 0.5, es: 0.2, de: 0.2, fr: 0.1 } },
        { startSeconds: 2, endSeconds: 4, probabilities: { en: 0.5, es: 0.2, de: 0.2, fr: 0.1 } },
        { startSeconds: 4, endSeconds: 12, probabilities: SPANISH },
      ],
    });
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    expect(scene.transcript('file').language).to.equal('es');
  });

  it('asks only the first window of a model that takes 30 s', async () => {
    const policy = { ...FAKE_POLICY, maxSeconds: 30, ownLength: false };
    const scene = await Scenario.start({ slots: 4, policy });
    scene.file('file', fileOfWindows(28, repeat(4, { probabilities: SPANISH })));
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    const languages = scene.fake.runsOf('file').map((run) => run.options.language);
    expect(languages).to.deep.equal(['auto', 'es', 'es', 'es']);
    expect(scene.fake.runs[0]?.options.ownLength).to.equal(false);
  });

  it('does not count windows in which nothing was recognised', async () => {
    const policy = { ...FAKE_POLICY, maxSeconds: 30 };
    const scene = await Scenario.start({ slots: 2, policy });
    const noise = { text: '', probabilities: GERMAN };
    scene.file('file', fileOfWindows(28, [noise, noise, { probabilities: SPANISH }, { probabilities: SPANISH }]));
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    expect(scene.transcript('file')).to.include({ language: 'es', text: 'es2 es3' });
  });

  it('answers a valid language for a file in which nothing is recognised', async () => {
    const scene = await Scenario.start();
    scene.file('silence', { seconds: 60, windows: [] });
    scene.file('noise', fileOfWindows(8, repeat(9, { text: ' ' })));
    for (const path of ['silence', 'noise']) {
      void scene.send({ path, language: 'auto' });
      await scene.finish();
      const expected = { language: 'en', languageProbability: null, text: '' };
      expect(scene.transcript(path), path).to.include(expected);
      expect(scene.transcript(path).segments).to.be.empty;
    }
  });

  it('answers one of the wanted languages even where the model thinks of others', async () => {
    const languages = ['en', 'es', 'de', 'fr', 'it'];
    const scene = await Scenario.start({ languages: ['es', 'en'] }, { languages });
    expect(scene.engine.info.languages).to.have.members(['en', 'es']);
    scene.file('file', fileOfWindows(8, [{ probabilities: { it: 0.6, es: 0.3, en: 0.1 } }]));
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    expect(scene.transcript('file')).to.include({ language: 'es', text: 'es0' });
  });

  it('uses a given language at once, and refuses one that the model does not know', async () => {
    const scene = await Scenario.start();
    scene.file('file', 40);
    void scene.send({ path: 'file', language: 'fr' });
    await scene.finish();
    expect(scene.transcript('file')).to.include({ language: 'fr', languageProbability: null });
    expect(scene.fake.runs.every((run) => run.options.language === 'fr')).to.equal(true);
    scene.file('other', 8);
    void scene.send({ path: 'other', language: 'ja' });
    await scene.finish();
    expect(scene.outcome('other').error).to.include({ code: 'unsupported_language', param: 'language' });
  });

  it("speaks ISO to the shell and Whisper's code to the addon", async () => {
    const scene = await Scenario.start({}, { languages: ['en', 'jw'] });
    expect(scene.engine.info.languages).to.deep.equal(['en', 'jv']);
    scene.file('given', 8);
    scene.file('detected', fileOfWindows(8, [{ probabilities: { en: 0.1, jw: 0.9 } }]));
    void scene.send({ path: 'given', language: 'jv' });
    void scene.send({ path: 'detected', language: 'auto' });
    await scene.finish();
    expect(scene.fake.runsOf('given')[0]?.options.language).to.equal('jw');
    expect(scene.transcript('detected').language).to.equal('jv');
    expect(scene.fake.runsOf('detected')).to.have.lengthOf(1);
  });

  it('detects nothing with a model of one language', async () => {
    const scene = await Scenario.start({}, { languages: ['en'] });
    scene.file('file', 8);
    void scene.send({ path: 'file', language: 'auto' });
    await scene.finish();
    expect(scene.fake.runs[0]?.options.language).to.equal('en');
  });
});
