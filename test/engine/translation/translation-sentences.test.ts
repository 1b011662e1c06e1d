/** Which sentence became what, and when it is reported. */
import { expect } from 'chai';
import type { TranslationEngine } from '../../../src/engine/translation/translation-engine.js';
import type { TranslatedPart, TranslatedText } from '../../../src/engine/types.js';
import { translationFailure, pair, translate, translated, useTranslationFixture } from './translation-fixture.js';

describe('TranslationEngine: sentences', () => {
  const fixture = useTranslationFixture();
  const { engineOf } = fixture;

  it('translates sentence by sentence, in order, and keeps the lines', async () => {
    const engine = engineOf([pair('es', 'en')]);
    expect(await translate(engine, 'Uno dos. Tres.\n\nCuatro.')).to.equal(
      '(es-en) Uno dos. (es-en) Tres.\n\n(es-en) Cuatro.',
    );
  });

  it('reports which sentence became what', async () => {
    const text = ' Uno dos.  ¿Tres?\n\nCuatro cinco ';
    const { sentences } = await translated(engineOf([pair('es', 'en')]), text);
    expect(sentences.map(({ start, end }) => text.slice(start, end))).to.deep.equal([
      'Uno dos.',
      '¿Tres?',
      'Cuatro cinco',
    ]);
    expect(sentences.map((sentence) => sentence.text)).to.deep.equal([
      '(es-en) Uno dos.',
      '(es-en) ¿Tres?',
      '(es-en) Cuatro cinco',
    ]);
    expect(await translated(engineOf([pair('es', 'en')]), ' \n')).to.deep.equal({
      text: ' \n',
      sentences: [],
    });
  });

  it('keeps to the sentences of the source where a pivot makes several of one, or none', async () => {
    fixture.fake.decode = (source, model) =>
      model === 'en-ja' ? [`<${source.join(' ')}>`] : source[0] === 'Dos.' ? [] : [...source, 'One.'];
    const engine = engineOf([pair('es', 'en'), pair('en', 'ja')]);
    const { text, sentences } = await translated(engine, 'Uno. Dos. Tres.', { to: 'ja' });
    expect(sentences.map((sentence) => sentence.text)).to.deep.equal(['<Uno.><One.>', '', '<Tres.><One.>']);
    expect(text).to.equal('<Uno.><One.><Tres.><One.>');
    fixture.fake.decode = () => [];
    expect(await translate(engine, 'Uno. Dos.', { to: 'ja' })).to.equal('');
  });

  describe('reported sentence by sentence', () => {
    const long = 'A b c d e f g h i j k l m n o p q r. ';
    /** What was reported per text, and the batches that had run by then. */
    const reportOf = async (
      engine: TranslationEngine,
      text: string,
      to = 'en',
    ): Promise<{ whole: TranslatedText; reported: (TranslatedPart & { batches: number })[] }> => {
      const reported: (TranslatedPart & { batches: number })[] = [];
      const report = (part: TranslatedPart): void =>
        void reported.push({ ...part, batches: fixture.fake.batches.length });
      const whole = await engine.translate({
        ...{ accountId: 'one', text, from: 'es', to },
        translated: report,
      });
      return { whole, reported };
    };

    it('is the translation, in order, though batches take like sentences together', async () => {
      const text = `Uno. ${long.repeat(40)}Dos.\n \nTres. ${long}Cuatro.`;
      const { whole, reported } = await reportOf(engineOf([pair('es', 'en')]), text);
      expect(reported.map((part) => part.text).join('')).to.equal(whole.text);
      expect(whole.text).to.contain('Dos.\n \n(es-en) Tres.');
      expect(reported.map(({ sentence }) => sentence)).to.deep.equal(whole.sentences);
      // The short ones come first in a batch of their own, and wait for the long ones between them.
      expect(reported[0]!.batches).to.be.below(reported.at(-1)!.batches);
      expect(reported.at(-1)!.batches).to.equal(fixture.fake.batches.length);
    });

    it('begins when the first batch is done', async () => {
      const { reported } = await reportOf(engineOf([pair('es', 'en')]), long.repeat(200));
      expect(reported).to.have.length(200);
      expect(reported[0]!.batches).to.be.at.most(2);
      expect(fixture.fake.batches.length).to.be.above(6);
    });

    it('keeps to the sentences of the source over a pivot, and to those of which nothing is left', async () => {
      fixture.fake.decode = (source, model) =>
        model === 'en-ja' ? [`<${source.join(' ')}>`] : source[0] === 'Dos.' ? [] : [...source, 'One.'];
      const engine = engineOf([pair('es', 'en'), pair('en', 'ja')]);
      const { whole, reported } = await reportOf(engine, 'Uno. Dos. Tres.', 'ja');
      expect(reported.map((part) => part.text)).to.deep.equal(['<Uno.><One.>', '', '<Tres.><One.>']);
      expect(reported.map(({ sentence }) => sentence)).to.deep.equal(whole.sentences);
    });

    it('waits for a sentence that is translated again, and for one that is cut', async () => {
      fixture.fake.maxSourceTokens = 14;
      fixture.fake.decode = (source, _model, { noRepeatNgramSize }) =>
        source[0] === 'Uno' && noRepeatNgramSize === undefined ? Array<string>(40).fill('ja') : [...source];
      const text = `Uno dos. ${long}Tres cuatro.`;
      const { whole, reported } = await reportOf(engineOf([pair('es', 'en')]), text);
      expect(whole.text).to.equal(text);
      expect(reported.map((part) => part.text).join('')).to.equal(text);
    });

    it('fails with what its listener throws', async () => {
      const engine = engineOf([pair('es', 'en')]);
      const text = 'Uno. Dos.';
      const reported = (): void => {
        throw new Error('I listen no more.');
      };
      const error = await translationFailure(
        engine.translate({ accountId: 'one', text, from: 'es', to: 'en', translated: reported }),
      );
      expect(error.message).to.equal('I listen no more.');
    });

    it('reports nothing after an abort', async () => {
      const engine = engineOf([pair('es', 'en')]);
      const controller = new AbortController();
      const reported: string[] = [];
      const work = translationFailure(
        engine.translate({
          ...{ accountId: 'one', text: long.repeat(100), from: 'es', to: 'en', signal: controller.signal },
          translated: ({ text }) => {
            reported.push(text);
            controller.abort(new Error('gone'));
          },
        }),
      );
      expect((await work).message).to.equal('gone');
      expect(reported).to.have.length(1);
    });
  });
});
