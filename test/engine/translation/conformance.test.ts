/**
 * What the addon's translation models do, the fake of the engine's tests included, and the engine over each of them.
 */
import { getEventListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type {
  NativeBinding,
  TranslationInput,
  TranslationModel,
  TranslationOptions,
  Translator,
} from '../../../src/engine/binding.js';
import { TranslationEngine } from '../../../src/engine/translation/translation-engine.js';
import { binding, failure } from '../../native/support.js';
import { FakeTranslation } from '../../support/fake-translation.js';
import { writeTinyModel } from '../../support/translation-models.js';
import { UNBOUNDED, UnboundedTranslation } from '../../support/unbounded-translation.js';

interface Subject {
  binding: Pick<NativeBinding, 'loadTranslationModel'>;
  /** From now on a batch ends by an abort alone, where it has the options `endless`. */
  hold(): void;
  release(): void;
  /** A batch is at work. */
  atWork(): Promise<unknown>;
}

interface Kind {
  name: string;
  start(): Subject;
  endless: TranslationOptions;
  missing: string;
}

const KINDS: readonly Kind[] = [
  {
    name: 'The fake translation',
    start: () => {
      const fake = new FakeTranslation();
      const [hold, release] = [() => fake.hold(), () => fake.release()];
      return { binding: fake, hold, release, atWork: () => fake.untilRunning(1) };
    },
    endless: {},
    missing: 'missing',
  },
  {
    name: 'The addon',
    start: () => {
      const real = new UnboundedTranslation(binding);
      const [hold, release] = [() => (real.endless = true), () => (real.endless = false)];
      return { binding: real, hold, release, atWork: () => real.decoding() };
    },
    endless: UNBOUNDED,
    missing: join(__dirname, 'nothing'),
  },
];

const INPUTS: readonly TranslationInput[] = [
  { source: ['▁hello', '▁world'] },
  { source: ['▁world'], targetPrefix: ['▁hello'] },
];
const SHORT: TranslationOptions = { beamSize: 1, maxDecodingLength: 5 };

for (const kind of KINDS) {
  describe(`${kind.name} keeps the contract for translation`, function () {
    this.timeout(60_000);
    let directory: string;
    let path: string;
    let subject: Subject;
    let model: TranslationModel;
    let translator: Translator;

    before(() => {
      directory = mkdtempSync(join(tmpdir(), 'verbatim-translation-'));
      path = writeTinyModel(join(directory, 'tiny'), { pieces: ['▁hello', '▁world'], unbounded: true });
    });
    after(() => rmSync(directory, { recursive: true }));
    beforeEach(async () => {
      subject = kind.start();
      model = await subject.binding.loadTranslationModel(path, { device: 'cpu' });
      translator = await model.createTranslator({ threads: 1 });
    });
    afterEach(() => {
      translator.close();
      model.close();
    });

    const translate = (signal?: AbortSignal, options = SHORT) =>
      translator.translate(INPUTS, options, signal === undefined ? {} : { signal });
    const refused = async (work: Promise<unknown> | (() => unknown)): Promise<void> => {
      expect(await failure(work)).to.include({ code: 'invalid_argument' });
    };

    it('loads what is there alone', async () => {
      const missing = subject.binding.loadTranslationModel(kind.missing, { device: 'cpu' });
      expect(await failure(missing)).to.include({ code: 'io_error' });
    });

    it('parts text into tokens and joins them again, a list for each text', async () => {
      const texts = ['hello world', ''];
      const tokens = await model.tokenize(texts);
      expect(tokens.map(({ length }) => length)).to.deep.equal([2, 0]);
      expect(await model.detokenize(tokens)).to.deep.equal(texts);
    });

    it('translates each input in its place, the target prefix included, and counts tokens and time', async () => {
      const { results, timings } = await translate();
      expect(results).to.have.length(2);
      for (const hypotheses of results) expect(hypotheses[0]?.score).to.be.a('number');
      expect(results[1]?.[0]?.tokens[0]).to.equal('▁hello');
      const [first, second] = await Promise.all([translatedAlone(0), translatedAlone(1)]);
      expect(results.map((hypotheses) => hypotheses[0]?.tokens)).to.deep.equal([first, second]);
      const counted = results.reduce((sum, [best]) => sum + (best?.tokens.length ?? 0), 0);
      expect(timings.tokensIn).to.be.at.least(3);
      expect(timings.tokensOut).to.be.within(1, counted + 2);
      expect(timings.totalMs).to.be.at.least(timings.encodeMs);
    });

    async function translatedAlone(index: number): Promise<string[] | undefined> {
      const own = await model.createTranslator({ threads: 1 });
      const { results } = await own.translate([INPUTS[index]!], SHORT);
      own.close();
      return results[0]?.[0]?.tokens;
    }

    it('runs one call of a translator at a time, and finishes the first', async () => {
      const running = translate();
      await refused(translate());
      expect((await running).results).to.have.length(2);
    });

    it('is aborted at work, leaves the translator usable and the signal alone', async () => {
      subject.hold();
      const controller = new AbortController();
      const running = failure(translate(controller.signal, { ...SHORT, ...kind.endless }));
      await subject.atWork();
      controller.abort('enough');
      expect(await running).to.include({ code: 'aborted' });
      expect(getEventListeners(controller.signal, 'abort')).to.have.length(0);
      subject.release();
      const unused = new AbortController().signal;
      expect((await translate(unused)).results).to.have.length(2);
      expect(getEventListeners(unused, 'abort')).to.have.length(0);
    });

    it('refuses at once what was aborted before, without taking the translator', async () => {
      const running = translate();
      expect(await failure(translate(AbortSignal.abort()))).to.include({ code: 'aborted' });
      expect((await running).results).to.have.length(2);
    });

    it('refuses what is closed, and finishes what runs', async () => {
      const running = translate();
      for (const handle of [translator, translator, model, model]) handle.close();
      expect((await running).results).to.have.length(2);
      await refused(translate());
      await refused(model.createTranslator({ threads: 1 }));
      await refused(model.tokenize(['hello']));
      await refused(model.detokenize([['▁hello']]));
      for (const ask of ['hasSourceToken', 'hasTargetToken'] as const) {
        expect(() => model[ask]('▁hello'))
          .to.throw('has been closed')
          .with.property('code', 'invalid_argument');
      }
    });

    describe('below the engine, which', () => {
      let engine: TranslationEngine;

      beforeEach(() => {
        engine = new TranslationEngine({
          ...{ binding: subject.binding, device: 'cpu', backend: 'auto', translators: 1, threads: 1 },
          models: [{ name: 'en-es', from: ['en'], to: ['es'], path }],
        });
      });
      afterEach(() => engine.close());

      const text = async (to = 'es', signal?: AbortSignal): Promise<string> =>
        (await engine.translate({ accountId: 'one', text: 'hello world', from: 'en', to, signal })).text;

      it('supports the pairs of its models, and refuses others', async () => {
        expect([engine.supports('en', 'es'), engine.supports('es', 'en')]).to.deep.equal([true, false]);
        expect(await failure(text('ja'))).to.include({ code: 'unsupported_translation' });
        expect(await text())
          .to.be.a('string')
          .that.has.length.above(0);
      });

      it('rejects with the reason of an abort, before and at work', async () => {
        const rejection = async (work: Promise<string>): Promise<unknown> => work.catch((error: unknown) => error);
        expect(await rejection(text('es', AbortSignal.abort('before')))).to.equal('before');
        subject.hold();
        const controller = new AbortController();
        const running = rejection(text('es', controller.signal));
        await subject.atWork();
        controller.abort('at work');
        expect(await running).to.equal('at work');
        subject.release();
      });

      it('closes once what runs is over, and takes nothing new', async () => {
        subject.hold();
        const controller = new AbortController();
        const running = text('es', controller.signal).catch((error: unknown) => error);
        await subject.atWork();
        let closed = false;
        const closing = engine.close().then(() => (closed = true));
        expect(await failure(text())).to.include({ code: 'shutting_down' });
        expect(closed).to.equal(false);
        controller.abort('enough');
        expect(await running).to.equal('enough');
        await closing;
      });
    });
  });
}
