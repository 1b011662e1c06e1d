/** TranslationModel and Translator of the addon, on the tiny models and what CTranslate2 made of them. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  loadBinding,
  type NativeError,
  type TranslationInput,
  type TranslationModel,
  type TranslationOptions,
  type Translator,
} from '../../src/engine/binding.js';
import { takenUp } from '../support/thread-pool.js';
import { ct2Fixture, writeTinyModel } from '../support/translation-models.js';
import { UNBOUNDED } from '../support/unbounded-translation.js';

interface GoldenCase {
  name: string;
  model: string;
  options: Record<string, number> & { compute: 'float32' | 'int8' };
  src: string[][];
  prefix: (string[] | null)[];
  results_one_batch: { hyps: string[][]; scores: number[] }[];
}

const golden = (JSON.parse(readFileSync(ct2Fixture('golden.json'), 'utf8')) as { cases: GoldenCase[] }).cases;
const binding = loadBinding();

function inputsOf({ src, prefix }: GoldenCase): TranslationInput[] {
  return src.map((source, index) => ({
    source,
    ...(prefix[index] ? { targetPrefix: prefix[index] } : {}),
  }));
}

function optionsOf({ options }: GoldenCase): TranslationOptions {
  return {
    beamSize: options['beam'] ?? 1,
    hypotheses: options['num_hyp'] ?? 1,
    lengthPenalty: options['length_penalty'] ?? 1,
    coveragePenalty: options['coverage_penalty'] ?? 0,
    repetitionPenalty: options['rep_penalty'] ?? 1,
    noRepeatNgramSize: options['no_repeat_ngram'] ?? 0,
    disableUnk: options['disable_unk'] === 1,
    maxDecodingLength: options['max_len']!,
  };
}

async function failure(work: Promise<unknown>): Promise<NativeError> {
  return work.then(
    () => expect.fail('resolved'),
    (error: unknown) => error as NativeError,
  );
}

describe(`the addon's translator (built in: ${binding.build.translationBackends.join(', ')})`, () => {
  let directory: string;
  let model: TranslationModel;
  let translator: Translator;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-native-'));
    writeTinyModel(join(directory, 'text'), { pieces: ['▁hello', '▁world'] });
    model = await binding.loadTranslationModel(ct2Fixture('tiny-marian-float32'), { device: 'cpu' });
    translator = await model.createTranslator({ threads: 1 });
  });
  after(() => {
    translator.close();
    model.close();
    rmSync(directory, { recursive: true });
  });

  it('reports what it loaded', () => {
    expect(model.info).to.deep.include({
      device: 'cpu',
      computeType: 'float32',
      sourceVocabulary: 300,
      targetVocabulary: 300,
      unkToken: '<unk>',
      eosToken: '</s>',
      decoderStartToken: '</s>',
      addsSourceEos: true,
      hasTokenizer: false,
    });
    expect(binding.build.translationBackends).to.include(model.info.backend);
    expect(model.info.memoryBytes).to.be.above(100_000);
    expect(model.hasSourceToken('t5')).to.equal(true);
    expect(model.hasTargetToken('>>es<<')).to.equal(false);
  });

  for (const name of ['tiny-marian-float32', 'tiny-m2m-float32']) {
    it(`gives CTranslate2's tokens and scores on ${name}`, async () => {
      const cases = golden.filter(
        (one) =>
          one.model === name && one.options.compute === 'float32' && (one.options['coverage_penalty'] ?? 0) === 0,
      );
      expect(cases).to.have.length.above(3);
      const loaded = await binding.loadTranslationModel(ct2Fixture(name), {
        device: 'cpu',
        computeType: 'float32',
      });
      const runner = await loaded.createTranslator({ threads: 1 });
      for (const one of cases) {
        const { results } = await runner.translate(inputsOf(one), optionsOf(one));
        results.forEach((hypotheses, index) => {
          const expected = one.results_one_batch[index]!;
          expect(
            hypotheses.map(({ tokens }) => tokens),
            `${one.name} ${index}`,
          ).to.deep.equal(expected.hyps);
          hypotheses.forEach(({ score }, rank) => expect(score).to.be.closeTo(expected.scores[rank]!, 1e-3));
        });
      }
      runner.close();
      loaded.close();
    });
  }

  it('counts tokens and time', async () => {
    const { timings } = await translator.translate([{ source: ['t5', 't6'] }], { maxDecodingLength: 5 });
    expect(timings.tokensIn).to.equal(3);
    expect(timings.tokensOut).to.be.within(1, 5);
    expect(timings.totalMs).to.be.above(0);
  });

  it('runs on ggml unless another backend is asked for', () => {
    expect(model.info.backend).to.equal('ggml');
  });

  it('goes from text to tokens and back by the tokenizer beside the weights', async () => {
    const texts = await binding.loadTranslationModel(join(directory, 'text'), { device: 'cpu' });
    expect(texts.info.hasTokenizer).to.equal(true);
    const tokens = await texts.tokenize(['hello world.', '']);
    expect(tokens).to.deep.equal([['▁hello', '▁world', '.'], []]);
    expect(await texts.detokenize(tokens)).to.deep.equal(['hello world.', '']);
    texts.close();
    const without = await failure(model.tokenize(['hello']));
    expect(without).to.include({ code: 'invalid_argument' });
    expect(without.message).to.contain('tokenizer');
  });

  describe('refuses', () => {
    it('what is no model, and says what is wrong', async () => {
      const broken = join(directory, 'broken');
      cpSync(ct2Fixture('tiny-marian-float32'), broken, { recursive: true });
      const whole = readFileSync(join(broken, 'model.bin'));
      writeFileSync(join(broken, 'model.bin'), whole.subarray(0, whole.length / 2));
      const load = (path: string, options = {}): Promise<TranslationModel> =>
        binding.loadTranslationModel(path, { device: 'cpu', ...options });
      expect(await failure(load(broken))).to.have.property('code', 'invalid_model');
      expect(await failure(load(join(directory, 'nothing')))).to.have.property('code', 'io_error');
      const fixture = ct2Fixture('tiny-marian-float32');
      expect(await failure(load(fixture, { device: 'cuda:99' }))).to.have.property('code', 'device_unavailable');
      expect(await failure(load(fixture, { backend: 'abacus' }))).to.have.property(
        'message',
        'translation backend "abacus" is unknown; auto, ggml and ctranslate2 are allowed',
      );
      expect(await failure(load(fixture, { computeType: 'int3' }))).to.have.property('code', 'invalid_argument');
    });

    it('arguments of the wrong type, by name', async () => {
      const wrong: [unknown, unknown, string][] = [
        ['t5', {}, 'inputs must be an array of objects like { source }.'],
        [[null], {}, 'inputs[0] must be an object like { source }.'],
        [[{ source: 't5' }], {}, 'inputs[0].source must be an array of strings.'],
        [[{ source: ['t5', 6] }], {}, 'inputs[0].source[1] must be a string.'],
        [[{ source: ['t5'], targetPrefix: 't5' }], {}, 'inputs[0].targetPrefix must be an array of strings.'],
        [[{ source: ['t5'] }], { beamSize: 'x' }, 'options.beamSize must be'],
        [[{ source: ['t5'] }], { beamSize: 65 }, 'beam_size is 65; 1 to 64 is allowed'],
      ];
      for (const [inputs, options, message] of wrong) {
        const error = await failure(translator.translate(inputs as TranslationInput[], options as object));
        expect(error.code, message).to.equal('invalid_argument');
        expect(error.message).to.contain(message);
      }
    });

    it('a number of threads that no machine has', async () => {
      for (const threads of [0, -1, 257, 100_000]) {
        const error = await failure(model.createTranslator({ threads }));
        expect(error).to.include({ code: 'invalid_argument' });
        expect(error.message).to.contain(`threads is ${threads}; 1 to 256 is allowed`);
      }
    });

    it('overlapping calls, and calls after close', async () => {
      const running = translator.translate([{ source: ['t5'] }], {});
      const overlapping = await failure(translator.translate([{ source: ['t5'] }], {}));
      expect(overlapping.message).to.contain('must not overlap');
      await running;
      const closed = await model.createTranslator({ threads: 1 });
      closed.close();
      closed.close();
      const error = await failure(closed.translate([{ source: ['t5'] }], {}));
      expect(error.message).to.contain('has been closed');
    });
  });

  for (const beamSize of binding.build.translationBackends.includes('ctranslate2') ? [1] : [1, 4]) {
    // CTranslate2's library can be stopped within a sentence only when it decodes greedily.
    it(`is aborted in the middle of a sentence with ${beamSize} beams, and usable afterwards`, async () => {
      const unbounded = writeTinyModel(join(directory, `unbounded-${beamSize}`), { unbounded: true });
      const endless = await binding.loadTranslationModel(unbounded, { device: 'cpu' });
      expect(endless.info.maxTargetTokens).to.equal(0);
      const runner = await endless.createTranslator({ threads: 1 });
      const controller = new AbortController();
      const options = { ...UNBOUNDED, beamSize };
      const running = failure(runner.translate([{ source: ['t90'] }], options, { signal: controller.signal }));
      await takenUp();
      await new Promise((resolve) => setTimeout(resolve, 50));
      controller.abort();
      expect(await running).to.have.property('code', 'aborted');
      const { results } = await runner.translate([{ source: ['t90'] }], { maxDecodingLength: 3 });
      expect(results).to.have.length(1);
      runner.close();
      endless.close();
    });
  }

  it('gives the weights back when model and translators are closed', async () => {
    const before = binding.heldBytes();
    const loaded = await binding.loadTranslationModel(ct2Fixture('tiny-marian-int8'), { device: 'cpu' });
    const runner = await loaded.createTranslator({ threads: 1 });
    await runner.translate([{ source: ['t5'] }], {});
    expect(binding.heldBytes()).to.be.at.least(before + loaded.info.memoryBytes);
    loaded.close();
    expect(binding.heldBytes()).to.be.above(before);
    runner.close();
    expect(binding.heldBytes()).to.equal(before);
  });
});
