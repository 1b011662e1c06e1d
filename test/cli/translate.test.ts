import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ct2Fixture, writeTinyModel } from '../support/translation-models.js';

const root = join(__dirname, '..', '..');
const main = join(root, 'src', 'main.ts');

interface GoldenCase {
  name: string;
  model: string;
  src: string[][];
  prefix: (string[] | null)[];
  results_one_batch: { hyps: string[][]; scores: number[] }[];
}

const golden = (JSON.parse(readFileSync(ct2Fixture('golden.json'), 'utf8')) as { cases: GoldenCase[] }).cases;

describe('translation on the command line', function () {
  let directory: string;

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-cli-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  const verbatim = (words: string[], input = '', environment: Record<string, string> = {}) => {
    const env = { ...process.env, VERBATIM_DEVICE: 'cpu', VERBATIM_MODELS_DIR: directory, ...environment };
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', main, ...words], {
      encoding: 'utf8',
      input,
      env,
    });
    return { status, stdout, stderr };
  };

  describe('verbatim translate', () => {
    it('translates its argument, and says over which models with --json', () => {
      const { status, stdout, stderr } = verbatim([
        'translate',
        '--from',
        'eng',
        '--to',
        'de',
        'Good morning.',
      ]);
      expect(status, stderr).to.equal(0);
      expect(stdout).to.match(/^Guten Morgen/);
      const json = verbatim(['translate', '--from', 'en', '--to', 'es', '--json', 'Good morning.']).stdout;
      expect(JSON.parse(json)).to.deep.include({
        from: 'en',
        to: 'es',
        models: ['translate-verbatim-small'],
      });
    });

    it('translates standard input, line by line', () => {
      const { stdout } = verbatim(
        ['translate', '--from', 'en', '--to', 'de', '-'],
        'Good morning.\n\nThank you.\n',
      );
      expect(stdout.split('\n')).to.have.length(4);
      expect(stdout).to.match(/^Guten Morgen.*\n\n\S.*\n$/);
    });

    it('exits with 1 for a pair that nothing covers and 2 for wrong usage, and says why', () => {
      const cases: [string[], number, RegExp][] = [
        [['--from', 'en', '--to', 'ja', 'x'], 1, /No installed model translates "en" into "ja"/],
        [['--to', 'de', 'x'], 2, /--from is ""/],
        [['--tokens', 'x'], 2, /--model/],
        [['--beam', '0', 'x'], 2, /allowed: an integer from 1/],
      ];
      for (const [words, expected, message] of cases) {
        const { status, stderr } = verbatim(['translate', ...words]);
        expect(status, words.join(' ')).to.equal(expected);
        expect(stderr).to.match(message);
      }
      const { status, stderr } = verbatim(['translate', '--from', 'en', '--to', 'de', 'x'], '', {
        VERBATIM_TRANSLATION_BACKEND: 'abacus',
      });
      expect({ status }).to.deep.equal({ status: 2 });
      expect(stderr).to.contain(
        'VERBATIM_TRANSLATION_BACKEND is "abacus"; allowed: auto, ggml, ctranslate2.',
      );
    });
  });

  describe('verbatim translate --tokens', () => {
    const line = (one: GoldenCase, index: number): string => {
      const prefix = one.prefix[index];
      return one.src[index]!.join(' ') + (prefix ? `\t${prefix.join(' ')}` : '');
    };
    const cases: [string, string[]][] = [
      ['marian_float32_as_float32_greedy', ['--beam', '1']],
      ['m2m_float32_as_float32_beam2', ['--beam', '2', '--batch', '1']],
    ];

    for (const [name, flags] of cases) {
      it(`gives CTranslate2's hypotheses: ${name}`, () => {
        const one = golden.find((candidate) => candidate.name === name)!;
        const input = one.src.map((_source, index) => `${line(one, index)}\n`).join('');
        const common = ['translate', '--model', ct2Fixture(one.model), '--tokens', '--compute', 'float32'];
        const words = [...common, ...flags, '--max-length', '30'];
        const { status, stdout, stderr } = verbatim(words, input);
        expect(status, stderr).to.equal(0);
        const lines = stdout.trimEnd().split('\n');
        expect(lines).to.have.length(one.src.length);
        lines.forEach((text, index) => {
          const { hypotheses, scores } = JSON.parse(text) as { hypotheses: string[][]; scores: number[] };
          const expected = one.results_one_batch[index]!;
          expect(hypotheses).to.deep.equal(expected.hyps);
          scores.forEach((score, rank) => expect(score).to.be.closeTo(expected.scores[rank]!, 1e-3));
        });
      });
    }

    it('takes every option of the search', () => {
      const flags =
        '--beam 3 --n-best 2 --length-penalty 0.6 --coverage-penalty 0.2 --patience 1.5 --max-length 9 ' +
        '--min-length 3 --repetition-penalty 1.2 --no-repeat-ngram 2 --disable-unk --compute int8';
      const words = ['translate', '--model', ct2Fixture('tiny-marian-int8'), '--tokens', ...flags.split(' ')];
      const { status, stdout, stderr } = verbatim(words, 't5 t6 t7\n');
      expect(status, stderr).to.equal(0);
      const { hypotheses } = JSON.parse(stdout) as { hypotheses: string[][] };
      expect(hypotheses).to.have.length(2);
      for (const tokens of hypotheses) {
        expect(tokens.length).to.be.within(3, 9);
        const pairs = tokens.slice(1).map((token, index) => `${tokens[index]!} ${token}`);
        expect(new Set(pairs).size).to.equal(pairs.length);
      }
    });

    for (const [type, status] of [
      ['float32', 0],
      ['bfloat16', 0],
      ['int8', 0],
      ['auto', 0],
      ['float16', 1],
    ] as const) {
      it(`${status === 0 ? 'computes in' : 'says that the CPU does not compute in'} ${type}`, () => {
        const words = ['translate', '--model', ct2Fixture('tiny-marian-int8'), '--tokens', '--compute', type];
        const answer = verbatim(words, 't5 t6 t7\n');
        expect(answer.status, answer.stderr).to.equal(status);
        if (status !== 0) expect(answer.stderr).to.contain('"float16"').and.contain('bfloat16');
        else expect(JSON.parse(answer.stdout)).to.have.property('hypotheses').with.length(1);
      });
    }
  });

  it('verbatim models import takes a model that verbatim translate then uses', () => {
    const model = writeTinyModel(join(directory, 'source'), { pieces: ['▁hola', '>>pt<<'] });
    const flags = ['--name', 'mine', '--from', 'it', '--to', 'por', '--target-token', '>>{}<<'];
    const { status, stdout, stderr } = verbatim(['models', 'import', model, ...flags]);
    expect(status, stderr).to.equal(0);
    expect(stdout).to.equal('mine is imported: it -> pt\n');
    const rows = JSON.parse(verbatim(['models', 'list', '--json']).stdout) as Record<string, unknown>[];
    expect(rows.find(({ name }) => name === 'mine')).to.include({ installed: 'yes', languages: 'it -> pt' });
    const json = verbatim(['translate', '--from', 'it', '--to', 'pt', '--json', 'hola.']).stdout;
    expect(JSON.parse(json)).to.deep.include({ models: ['mine'] });
    writeFileSync(join(directory, 'notes.zip'), 'no zip');
    const refused = verbatim(['models', 'import', join(directory, 'notes.zip')]);
    expect(refused.status).to.equal(1);
    expect(refused.stderr).to.contain('it is no zip archive');
  });

  it('verbatim transcribe --translate-to prints the translation', () => {
    const file = join(root, 'test', 'fixtures', 'audio', 'samples', 'en-wav16.wav');
    const { status, stdout, stderr } = verbatim(['transcribe', file, '--translate-to', 'es', '--json']);
    expect(status, stderr).to.equal(0);
    const answer = JSON.parse(stdout) as {
      language: string;
      translation: { language: string; text: string };
    };
    expect(answer.language).to.equal('en');
    expect(answer.translation.language).to.equal('es');
    expect(answer.translation.text).to.match(/\p{L}{2}/u);
    const refused = verbatim(['transcribe', file, '--language', 'en', '--translate-to', 'ja']);
    expect(refused.status).to.equal(1);
    expect(refused.stderr).to.contain('No installed model translates "en" into "ja"');
  });
});
