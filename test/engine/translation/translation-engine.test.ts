/** Routing, batches, fairness and loops of the translation engine. */
import { expect } from 'chai';
import { endsInLoop } from '../../../src/engine/translation/repetition.js';
import { translationFailure, pair, translate, turn, useTranslationFixture } from './translation-fixture.js';

describe('TranslationEngine', () => {
  const fixture = useTranslationFixture();
  const { engineOf } = fixture;

  it('loads a model when it is first needed, and once', async () => {
    const engine = engineOf([pair('es', 'en'), pair('de', 'en')]);
    expect(fixture.fake.loaded).to.deep.equal([]);
    await Promise.all([translate(engine, 'Uno.'), translate(engine, 'Dos.')]);
    expect(fixture.fake.loaded).to.deep.equal(['es-en']);
  });

  it('runs no model on nothing but white space', async () => {
    const engine = engineOf([pair('es', 'en')]);
    expect(await translate(engine, '')).to.equal('');
    expect(await translate(engine, ' \n ')).to.equal(' \n ');
    expect(fixture.fake.loaded).to.deep.equal([]);
  });

  it('pivots through English', async () => {
    const engine = engineOf([pair('es', 'en'), pair('en', 'ja')]);
    expect(engine.supports('es', 'ja')).to.equal(true);
    expect(engine.routeOf('es', 'ja')).to.deep.equal(['es-en', 'en-ja']);
    expect(await translate(engine, 'Uno.', { to: 'ja' })).to.equal('(en-ja) (es-en) Uno.');
  });

  it('refuses a pair that no model covers', async () => {
    const engine = engineOf([pair('es', 'en')]);
    expect(engine.supports('en', 'es')).to.equal(false);
    expect(await translationFailure(translate(engine, 'One.', { from: 'en', to: 'es' }))).to.include({
      code: 'unsupported_translation',
      message: 'No installed model translates "en" into "es".',
    });
  });

  it('gives the model the languages, in the codes of the model, and takes them out of the answer', async () => {
    const source = { ...pair('es', 'en'), targetToken: { place: 'source' as const, template: '>>{}<<' } };
    expect(await translate(engineOf([source]), 'Uno.')).to.equal('(es-en) Uno.');
    expect(fixture.fake.batches[0]!.inputs).to.deep.equal([{ source: ['>>en<<', 'Uno.'] }]);
    const prefix = {
      ...pair('es', 'en'),
      targetToken: { place: 'prefix' as const, template: '{}' },
      sourceToken: '{}',
      codes: { es: 'spa_Latn', en: 'eng_Latn' },
    };
    expect(await translate(engineOf([prefix]), 'Uno.')).to.equal('(es-en) Uno.');
    expect(fixture.fake.batches[1]!.inputs).to.deep.equal([
      { source: ['spa_Latn', 'Uno.'], targetPrefix: ['eng_Latn'] },
    ]);
  });

  it('cuts what is longer than the model takes', async () => {
    fixture.fake.maxSourceTokens = 14;
    const text = `${Array.from({ length: 35 }, (_, index) => `w${index}`).join(' ')}.`;
    const answer = await translate(engineOf([pair('es', 'en')]), text);
    expect(answer.replaceAll('(es-en) ', '')).to.equal(text);
    const lengths = fixture.fake.batches.flatMap(({ inputs }) => inputs.map(({ source }) => source.length));
    expect(lengths.sort((one, other) => one - other)).to.deep.equal([5, 10, 10, 10]);
  });

  it('groups sentences of like length, bounded in tokens', async () => {
    const long = `A ${'a '.repeat(89)}b.`;
    await translate(engineOf([pair('es', 'en')]), `${'Uno dos. '.repeat(70)}${`${long} `.repeat(20)}`);
    for (const { inputs } of fixture.fake.batches) {
      const lengths = inputs.map(({ source }) => source.length);
      expect(new Set(lengths).size).to.equal(1);
      expect(lengths.reduce((sum, length) => sum + length, 0)).to.be.at.most(768);
      expect(lengths.length).to.be.at.most(32);
    }
    expect(fixture.fake.batches).to.have.length(Math.ceil(70 / 32) + Math.ceil(20 / 8));
  });

  it('shares a batch between requests', async () => {
    const engine = engineOf([pair('es', 'en')]);
    fixture.fake.hold();
    const first = translate(engine, 'Uno.');
    await fixture.fake.untilRunning(1);
    const others = ['Dos.', 'Tres.', 'Cuatro.'].map((text, index) =>
      translate(engine, text, { accountId: String(index) }),
    );
    await turn();
    fixture.fake.release();
    expect(await first).to.equal('(es-en) Uno.');
    expect(await Promise.all(others)).to.deep.equal(['(es-en) Dos.', '(es-en) Tres.', '(es-en) Cuatro.']);
    expect(fixture.fake.batches.map(({ inputs }) => inputs.length)).to.deep.equal([1, 3]);
  });

  it('lets a short text of another account pass a long one', async () => {
    const engine = engineOf([pair('es', 'en')]);
    fixture.fake.hold();
    const order: string[] = [];
    const long = translate(engine, 'A b c d e f g h i j. '.repeat(400)).then(() => order.push('long'));
    await fixture.fake.untilRunning(1);
    const short = translate(engine, 'Uno.', { accountId: 'two' }).then(() => order.push('short'));
    await turn();
    fixture.fake.release();
    await Promise.all([long, short]);
    expect(order).to.deep.equal(['short', 'long']);
    expect(fixture.fake.batches.findIndex(({ inputs }) => inputs[0]!.source[0] === 'Uno.')).to.be.at.most(2);
  });

  it('keeps to its number of translators', async () => {
    const engine = engineOf([pair('es', 'en'), pair('de', 'en')], 2);
    fixture.fake.hold();
    const texts = ['es', 'de', 'es', 'de'].map((from) => translate(engine, 'Uno dos. '.repeat(100), { from }));
    await fixture.fake.untilRunning(2);
    await turn();
    fixture.fake.release();
    await Promise.all(texts);
    expect(fixture.fake.mostRunning).to.equal(2);
  });

  it('decodes a loop once more without repeats, and then takes what comes', async () => {
    fixture.fake.decode = (source, _model, { noRepeatNgramSize }) =>
      noRepeatNgramSize === undefined ? Array<string>(30).fill('la') : source.map((word) => `*${word}`);
    const engine = engineOf([pair('es', 'en')]);
    expect(await translate(engine, 'Uno dos.')).to.equal('*Uno *dos.');
    expect(fixture.fake.batches.map(({ options }) => options.noRepeatNgramSize)).to.deep.equal([undefined, 4]);
    fixture.fake.decode = () => Array<string>(30).fill('la');
    expect(await translate(engine, 'Tres.')).to.equal(Array<string>(30).fill('la').join(' '));
    expect(fixture.fake.batches).to.have.length(4);
  });

  it('leaves a loop alone that the speaker made', async () => {
    const text = Array<string>(20).fill('no').join(' ');
    expect(await translate(engineOf([pair('es', 'en')]), text)).to.equal(`(es-en) ${text}`);
    expect(fixture.fake.batches).to.have.length(1);
  });

  it('bounds the length of a translation by its source', async () => {
    await translate(engineOf([pair('es', 'en')]), 'a b c d e f g h i j.');
    expect(fixture.fake.batches[0]!.options.maxDecodingLength).to.equal(2 * 16 + 32);
  });

  it('sees loops', () => {
    const repeat = (words: string, times: number): string[] => Array<string>(times).fill(words).join(' ').split(' ');
    expect(endsInLoop(repeat('a', 12))).to.equal(true);
    expect(endsInLoop(['x', ...repeat('a b c', 4)])).to.equal(true);
    expect(endsInLoop(repeat('a', 11))).to.equal(false);
    expect(endsInLoop(repeat('a b c d e', 3))).to.equal(false);
    expect(endsInLoop([])).to.equal(false);
  });
});
