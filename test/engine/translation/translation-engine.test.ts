/** Routing, batches, fairness, loops and aborts of the translation engine; the real addon has its own test below. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadBinding } from '../../../src/engine/binding.js';
import { endsInLoop } from '../../../src/engine/translation/repetition.js';
import type { TranslationModelSpec } from '../../../src/engine/translation/translation-model.js';
import { TranslationEngine } from '../../../src/engine/translation/translation-engine.js';
import type { TranslatedPart, TranslatedText } from '../../../src/engine/types.js';
import { FakeTranslation } from '../../support/fake-translation.js';
import { writeTinyModel } from '../../support/translation-models.js';
import { UnboundedTranslation } from '../../support/unbounded-translation.js';
import { nativeError } from '../native-error.js';

const pair = (from: string, to: string): TranslationModelSpec => ({
  name: `${from}-${to}`,
  path: `${from}-${to}`,
  from: [from],
  to: [to],
});

async function failure(work: Promise<unknown>): Promise<Error & { code?: string }> {
  return work.then(
    () => expect.fail('resolved'),
    (error: unknown) => error as Error,
  );
}

/** Enough for short texts to be queued, and for what was queued to go on: all of that is microtasks. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('TranslationEngine', () => {
  let fake: FakeTranslation;
  const engines: TranslationEngine[] = [];

  const engineOf = (models: TranslationModelSpec[], translators = 1): TranslationEngine => {
    const engine = new TranslationEngine({
      binding: fake,
      models,
      device: 'cpu',
      backend: 'auto',
      translators,
      threads: 1,
    });
    engines.push(engine);
    return engine;
  };
  const translated = (
    engine: TranslationEngine,
    text: string,
    options: { accountId?: string; from?: string; to?: string; signal?: AbortSignal } = {},
  ): Promise<TranslatedText> =>
    engine.translate({ accountId: 'one', text, from: 'es', to: 'en', ...options });
  const translate = async (...words: Parameters<typeof translated>): Promise<string> =>
    (await translated(...words)).text;

  beforeEach(() => (fake = new FakeTranslation()));
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
    expect(fake).to.include({ running: 0, openTranslators: 0, openModels: 0 });
  });

  it('translates sentence by sentence, in order, and keeps the lines', async () => {
    const engine = engineOf([pair('es', 'en')]);
    expect(await translate(engine, 'Uno dos. Tres.\n\nCuatro.')).to.equal(
      '(es-en) Uno dos. (es-en) Tres.\n\n(es-en) Cuatro.',
    );
  });

  it('tells which sentence became what', async () => {
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
    fake.decode = (source, model) =>
      model === 'en-ja' ? [`<${source.join(' ')}>`] : source[0] === 'Dos.' ? [] : [...source, 'One.'];
    const engine = engineOf([pair('es', 'en'), pair('en', 'ja')]);
    const { text, sentences } = await translated(engine, 'Uno. Dos. Tres.', { to: 'ja' });
    expect(sentences.map((sentence) => sentence.text)).to.deep.equal(['<Uno.><One.>', '', '<Tres.><One.>']);
    expect(text).to.equal('<Uno.><One.><Tres.><One.>');
    fake.decode = () => [];
    expect(await translate(engine, 'Uno. Dos.', { to: 'ja' })).to.equal('');
  });

  describe('told sentence by sentence', () => {
    const long = 'A b c d e f g h i j k l m n o p q r. ';
    /** What was told of a text, and the batches that had run by then. */
    const tellOf = async (
      engine: TranslationEngine,
      text: string,
      to = 'en',
    ): Promise<{ whole: TranslatedText; told: (TranslatedPart & { batches: number })[] }> => {
      const told: (TranslatedPart & { batches: number })[] = [];
      const tell = (part: TranslatedPart): void => void told.push({ ...part, batches: fake.batches.length });
      const whole = await engine.translate({
        ...{ accountId: 'one', text, from: 'es', to },
        translated: tell,
      });
      return { whole, told };
    };

    it('is the translation, in order, though batches take like sentences together', async () => {
      const text = `Uno. ${long.repeat(40)}Dos.\n \nTres. ${long}Cuatro.`;
      const { whole, told } = await tellOf(engineOf([pair('es', 'en')]), text);
      expect(told.map((part) => part.text).join('')).to.equal(whole.text);
      expect(whole.text).to.contain('Dos.\n \n(es-en) Tres.');
      expect(told.map(({ sentence }) => sentence)).to.deep.equal(whole.sentences);
      // The short ones come first in a batch of their own, and wait for the long ones between them.
      expect(told[0]!.batches).to.be.below(told.at(-1)!.batches);
      expect(told.at(-1)!.batches).to.equal(fake.batches.length);
    });

    it('begins when the first batch is done', async () => {
      const { told } = await tellOf(engineOf([pair('es', 'en')]), long.repeat(200));
      expect(told).to.have.length(200);
      expect(told[0]!.batches).to.be.at.most(2);
      expect(fake.batches.length).to.be.above(6);
    });

    it('keeps to the sentences of the source over a pivot, and to those of which nothing is left', async () => {
      fake.decode = (source, model) =>
        model === 'en-ja' ? [`<${source.join(' ')}>`] : source[0] === 'Dos.' ? [] : [...source, 'One.'];
      const engine = engineOf([pair('es', 'en'), pair('en', 'ja')]);
      const { whole, told } = await tellOf(engine, 'Uno. Dos. Tres.', 'ja');
      expect(told.map((part) => part.text)).to.deep.equal(['<Uno.><One.>', '', '<Tres.><One.>']);
      expect(told.map(({ sentence }) => sentence)).to.deep.equal(whole.sentences);
    });

    it('waits for a sentence that is translated again, and for one that is cut', async () => {
      fake.maxSourceTokens = 14;
      fake.decode = (source, _model, { noRepeatNgramSize }) =>
        source[0] === 'Uno' && noRepeatNgramSize === undefined ? Array<string>(40).fill('ja') : [...source];
      const text = `Uno dos. ${long}Tres cuatro.`;
      const { whole, told } = await tellOf(engineOf([pair('es', 'en')]), text);
      expect(whole.text).to.equal(text);
      expect(told.map((part) => part.text).join('')).to.equal(text);
    });

    it('fails with what its listener throws', async () => {
      const engine = engineOf([pair('es', 'en')]);
      const text = 'Uno. Dos.';
      const told = (): void => {
        throw new Error('I listen no more.');
      };
      const error = await failure(
        engine.translate({ accountId: 'one', text, from: 'es', to: 'en', translated: told }),
      );
      expect(error.message).to.equal('I listen no more.');
    });

    it('tells nothing after an abort', async () => {
      const engine = engineOf([pair('es', 'en')]);
      const controller = new AbortController();
      const told: string[] = [];
      const work = failure(
        engine.translate({
          ...{ accountId: 'one', text: long.repeat(100), from: 'es', to: 'en', signal: controller.signal },
          translated: ({ text }) => {
            told.push(text);
            controller.abort(new Error('gone'));
          },
        }),
      );
      expect((await work).message).to.equal('gone');
      expect(told).to.have.length(1);
    });
  });

  it('loads a model when it is first needed, and once', async () => {
    const engine = engineOf([pair('es', 'en'), pair('de', 'en')]);
    expect(fake.loaded).to.deep.equal([]);
    await Promise.all([translate(engine, 'Uno.'), translate(engine, 'Dos.')]);
    expect(fake.loaded).to.deep.equal(['es-en']);
  });

  it('runs no model on nothing but white space', async () => {
    const engine = engineOf([pair('es', 'en')]);
    expect(await translate(engine, '')).to.equal('');
    expect(await translate(engine, ' \n ')).to.equal(' \n ');
    expect(fake.loaded).to.deep.equal([]);
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
    expect(await failure(translate(engine, 'One.', { from: 'en', to: 'es' }))).to.include({
      code: 'unsupported_translation',
      message: 'No installed model translates "en" into "es".',
    });
  });

  it('tells the model the languages, in the codes of the model, and takes them out of the answer', async () => {
    const source = { ...pair('es', 'en'), targetToken: { place: 'source' as const, template: '>>{}<<' } };
    expect(await translate(engineOf([source]), 'Uno.')).to.equal('(es-en) Uno.');
    expect(fake.batches[0]!.inputs).to.deep.equal([{ source: ['>>en<<', 'Uno.'] }]);
    const prefix = {
      ...pair('es', 'en'),
      targetToken: { place: 'prefix' as const, template: '{}' },
      sourceToken: '{}',
      codes: { es: 'spa_Latn', en: 'eng_Latn' },
    };
    expect(await translate(engineOf([prefix]), 'Uno.')).to.equal('(es-en) Uno.');
    expect(fake.batches[1]!.inputs).to.deep.equal([
      { source: ['spa_Latn', 'Uno.'], targetPrefix: ['eng_Latn'] },
    ]);
  });

  it('cuts what is longer than the model takes', async () => {
    fake.maxSourceTokens = 14;
    const text = `${Array.from({ length: 35 }, (_, index) => `w${index}`).join(' ')}.`;
    const answer = await translate(engineOf([pair('es', 'en')]), text);
    expect(answer.replaceAll('(es-en) ', '')).to.equal(text);
    const lengths = fake.batches.flatMap(({ inputs }) => inputs.map(({ source }) => source.length));
    expect(lengths.sort((one, other) => one - other)).to.deep.equal([5, 10, 10, 10]);
  });

  it('groups sentences of like length, bounded in tokens', async () => {
    const long = `A ${'a '.repeat(89)}b.`;
    await translate(engineOf([pair('es', 'en')]), `${'Uno dos. '.repeat(70)}${`${long} `.repeat(20)}`);
    for (const { inputs } of fake.batches) {
      const lengths = inputs.map(({ source }) => source.length);
      expect(new Set(lengths).size).to.equal(1);
      expect(lengths.reduce((sum, length) => sum + length, 0)).to.be.at.most(768);
      expect(lengths.length).to.be.at.most(32);
    }
    expect(fake.batches).to.have.length(Math.ceil(70 / 32) + Math.ceil(20 / 8));
  });

  it('shares a batch between requests', async () => {
    const engine = engineOf([pair('es', 'en')]);
    fake.hold();
    const first = translate(engine, 'Uno.');
    await fake.untilRunning(1);
    const others = ['Dos.', 'Tres.', 'Cuatro.'].map((text, index) =>
      translate(engine, text, { accountId: String(index) }),
    );
    await turn();
    fake.release();
    expect(await first).to.equal('(es-en) Uno.');
    expect(await Promise.all(others)).to.deep.equal(['(es-en) Dos.', '(es-en) Tres.', '(es-en) Cuatro.']);
    expect(fake.batches.map(({ inputs }) => inputs.length)).to.deep.equal([1, 3]);
  });

  it('lets a short text of another account pass a long one', async () => {
    const engine = engineOf([pair('es', 'en')]);
    fake.hold();
    const order: string[] = [];
    const long = translate(engine, 'A b c d e f g h i j. '.repeat(400)).then(() => order.push('long'));
    await fake.untilRunning(1);
    const short = translate(engine, 'Uno.', { accountId: 'two' }).then(() => order.push('short'));
    await turn();
    fake.release();
    await Promise.all([long, short]);
    expect(order).to.deep.equal(['short', 'long']);
    expect(fake.batches.findIndex(({ inputs }) => inputs[0]!.source[0] === 'Uno.')).to.be.at.most(2);
  });

  it('keeps to its number of translators', async () => {
    const engine = engineOf([pair('es', 'en'), pair('de', 'en')], 2);
    fake.hold();
    const texts = ['es', 'de', 'es', 'de'].map((from) =>
      translate(engine, 'Uno dos. '.repeat(100), { from }),
    );
    await fake.untilRunning(2);
    await turn();
    fake.release();
    await Promise.all(texts);
    expect(fake.mostRunning).to.equal(2);
  });

  it('decodes a loop once more without repeats, and then takes what comes', async () => {
    fake.decode = (source, _model, { noRepeatNgramSize }) =>
      noRepeatNgramSize === undefined ? Array<string>(30).fill('la') : source.map((word) => `*${word}`);
    const engine = engineOf([pair('es', 'en')]);
    expect(await translate(engine, 'Uno dos.')).to.equal('*Uno *dos.');
    expect(fake.batches.map(({ options }) => options.noRepeatNgramSize)).to.deep.equal([undefined, 4]);
    fake.decode = () => Array<string>(30).fill('la');
    expect(await translate(engine, 'Tres.')).to.equal(Array<string>(30).fill('la').join(' '));
    expect(fake.batches).to.have.length(4);
  });

  it('leaves a loop alone that the speaker made', async () => {
    const text = Array<string>(20).fill('no').join(' ');
    expect(await translate(engineOf([pair('es', 'en')]), text)).to.equal(`(es-en) ${text}`);
    expect(fake.batches).to.have.length(1);
  });

  it('bounds the length of a translation by its source', async () => {
    await translate(engineOf([pair('es', 'en')]), 'a b c d e f g h i j.');
    expect(fake.batches[0]!.options.maxDecodingLength).to.equal(2 * 16 + 32);
  });

  it('sees loops', () => {
    const repeat = (words: string, times: number): string[] =>
      Array<string>(times).fill(words).join(' ').split(' ');
    expect(endsInLoop(repeat('a', 12))).to.equal(true);
    expect(endsInLoop(['x', ...repeat('a b c', 4)])).to.equal(true);
    expect(endsInLoop(repeat('a', 11))).to.equal(false);
    expect(endsInLoop(repeat('a b c d e', 3))).to.equal(false);
    expect(endsInLoop([])).to.equal(false);
  });

  describe('abort', () => {
    it('stops the batch that runs, at once, and leaves the engine usable', async () => {
      const engine = engineOf([pair('es', 'en')]);
      const controller = new AbortController();
      const reason = new Error('gone');
      fake.hold();
      const running = failure(translate(engine, 'Uno dos tres. '.repeat(200), { signal: controller.signal }));
      await fake.untilRunning(1);
      controller.abort(reason);
      expect(await running).to.equal(reason);
      fake.release();
      await turn();
      expect(fake.batches).to.have.length(1);
      expect(fake.batches[0]!.aborted).to.equal(true);
      expect(await translate(engine, 'Uno.')).to.equal('(es-en) Uno.');
      expect(fake.batches).to.have.length(2);
    });

    it('of one request leaves the batch to the others in it', async () => {
      const engine = engineOf([pair('es', 'en')]);
      fake.hold();
      const first = translate(engine, 'Uno.');
      await fake.untilRunning(1);
      const controller = new AbortController();
      const gone = failure(translate(engine, 'Dos.', { signal: controller.signal }));
      const stays = translate(engine, 'Tres.', { accountId: 'two' });
      await turn();
      fake.release();
      fake.hold();
      await first;
      await fake.untilRunning(1);
      controller.abort(new Error('gone'));
      expect((await gone).message).to.equal('gone');
      fake.release();
      expect(await stays).to.equal('(es-en) Tres.');
      expect(fake.batches[1]).to.deep.include({ aborted: false });
      expect(fake.batches[1]!.inputs).to.have.length(2);
    });
  });

  describe('failure', () => {
    it('of a model is told as the addon tells it, and the next request tries again', async () => {
      const engine = engineOf([{ ...pair('es', 'en'), path: 'missing' }]);
      for (let attempt = 0; attempt < 2; attempt++) {
        expect(await failure(translate(engine, 'Uno.'))).to.include({
          name: 'EngineError',
          code: 'io_error',
        });
      }
    });

    it('of one sentence is its own request’s, not that of the batch', async () => {
      const engine = engineOf([pair('es', 'en')]);
      fake.failWith = (inputs) =>
        inputs.some(({ source }) => source.includes('veneno.')) ? nativeError('internal_error') : null;
      fake.hold();
      const first = translate(engine, 'Uno.');
      await fake.untilRunning(1);
      const bad = failure(translate(engine, 'veneno.'));
      const good = translate(engine, 'Bueno.', { accountId: 'two' });
      await turn();
      fake.release();
      expect([await first, await good]).to.deep.equal(['(es-en) Uno.', '(es-en) Bueno.']);
      expect(await bad).to.have.property('code', 'internal_error');
    });
  });

  it('finishes what runs before it closes, and takes nothing new', async () => {
    const engine = engineOf([pair('es', 'en')]);
    fake.hold();
    const running = translate(engine, 'Uno.');
    await fake.untilRunning(1);
    const closed = engine.close();
    expect(await failure(translate(engine, 'Dos.'))).to.have.property('code', 'shutting_down');
    fake.release();
    expect(await running).to.equal('(es-en) Uno.');
    await closed;
  });
});

describe('TranslationEngine on the addon', () => {
  const binding = new UnboundedTranslation(loadBinding());
  let directory: string;
  let engine: TranslationEngine;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-translator-'));
    writeTinyModel(directory, { pieces: ['▁hola', '▁mundo'], unbounded: true });
    const model = { name: 'tiny', path: directory, from: ['es'], to: ['en'] };
    engine = new TranslationEngine({
      binding,
      models: [model],
      device: 'cpu',
      backend: 'ggml',
      translators: 2,
      threads: 1,
    });
  });
  after(async () => {
    await engine.close();
    rmSync(directory, { recursive: true });
  });

  const translate = async (text: string, signal?: AbortSignal): Promise<string> =>
    (await engine.translate({ accountId: 'one', text, from: 'es', to: 'en', signal })).text;

  it('gives the same text alone and beside others', async () => {
    const texts = ['hola mundo.', 'mundo hola hola.', 'hola.', 'hola, mundo, hola.'];
    const alone: string[] = [];
    for (const text of texts) alone.push(await translate(text));
    expect(alone.every((text) => text.length > 0)).to.equal(true);
    expect(await Promise.all(texts.map((text) => translate(text)))).to.deep.equal(alone);
  });

  it('aborts inside the decoder', async () => {
    const expected = await translate('mundo hola.');
    binding.endless = true;
    const controller = new AbortController();
    const running = failure(translate('hola mundo.', controller.signal));
    const { decoded } = await binding.decoding();
    controller.abort(new Error('gone'));
    expect((await running).message).to.equal('gone');
    // The request is answered at once; it is the decoder's own end that shows that it has heard.
    expect(await failure(decoded)).to.have.property('code', 'aborted');
    binding.endless = false;
    expect(await translate('mundo hola.')).to.equal(expected);
  });
});
