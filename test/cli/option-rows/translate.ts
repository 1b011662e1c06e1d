import { expect } from 'chai';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { translationCalls } from '../../support/translation-calls.js';
import { ct2Fixture } from '../../support/translation-models.js';
import { inWorkplace, type OptionRows, type Workplace } from './rows.js';

interface Line {
  hypotheses: string[][];
  scores: number[];
}

const MODEL = ['--model', ct2Fixture('tiny-m2m-float32')];
const TOKENS = ['translate', '--tokens', ...MODEL];
const SOURCE = 't5 t6 t7 t9 t8';
const TEXT = ['translate', '--from', 'en', '--to', 'de', 'Good morning.'];

/** The first line's hypotheses, at most 12 tokens long, where the words do not say otherwise. */
async function decoded(place: Workplace, ...words: string[]): Promise<Line> {
  const length = words.includes('--max-length') ? [] : ['--max-length', '12'];
  const [first = ''] = (await place.printed([...TOKENS, ...length, ...words, SOURCE])).split('\n');
  return JSON.parse(first) as Line;
}

/** Shows what the option does to the search, and that without --tokens it is refused by name. */
function decoding(option: string, value: string[], look: (place: Workplace) => Promise<void>): OptionRows {
  return {
    [`translate ${option}`]: () =>
      inWorkplace(async (place) => {
        await look(place);
        expect(await place.refusal([...TEXT, option, ...value])).to.contain(
          `${option} acts only with --tokens`,
        );
      }),
  };
}

function score({ scores }: Line): number {
  return scores[0]!;
}

function best({ hypotheses }: Line): string[] {
  return hypotheses[0]!;
}

function mostRepeated(tokens: readonly string[], size: number): number {
  const counts = new Map<string, number>();
  for (let at = 0; at + size <= tokens.length; at++) {
    const ngram = tokens.slice(at, at + size).join(' ');
    counts.set(ngram, (counts.get(ngram) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}

/** How many lines each native call was given while the command ran. */
async function batchesOf(work: () => Promise<unknown>): Promise<number[]> {
  return (await translationCalls(work)).map(({ sentences }) => sentences);
}

/** A model directory in which what would be this token is the unknown one. */
function withUnknown(directory: string, token: string): string {
  cpSync(ct2Fixture('tiny-m2m-float32'), directory, { recursive: true });
  const path = join(directory, 'shared_vocabulary.json');
  const vocabulary = JSON.parse(readFileSync(path, 'utf8')) as string[];
  const swapped: Record<string, string> = { [token]: '<unk>', '<unk>': token };
  writeFileSync(path, JSON.stringify(vocabulary.map((name) => swapped[name] ?? name)));
  return directory;
}

const ofText: OptionRows = {
  'translate --from': () =>
    inWorkplace(async (place) => {
      const text = (from: string): string[] => ['translate', '--from', from, '--to', 'en', 'Guten Morgen.'];
      expect(await place.printed(text('ger'))).to.match(/^Good morning/);
      expect(await place.printed(text('en'))).to.equal('Guten Morgen.\n');
      expect((await place.run(text('ja'))).stderr).to.contain('No installed model translates "ja" into "en"');
      expect(await place.refusal([...TOKENS, '--from', 'en', SOURCE])).to.contain(
        '--from cannot be used with --tokens',
      );
    }),
  'translate --to': () =>
    inWorkplace(async (place) => {
      expect(await place.printed(TEXT)).to.match(/^Guten Morgen/);
      const spanish = ['translate', '--from', 'en', '--to', 'spa', 'Good morning.'];
      expect(await place.printed(spanish)).to.match(/^Buenos/);
      expect(await place.refusal([...TOKENS, '--to', 'en', SOURCE])).to.contain(
        '--to cannot be used with --tokens',
      );
    }),
  'translate --json': () =>
    inWorkplace(async (place) => {
      const text = (await place.printed(TEXT)).trimEnd();
      const models = ['translate-verbatim-small'];
      expect(await place.json([...TEXT, '--json'])).to.deep.equal({ from: 'en', to: 'de', models, text });
      expect(await place.refusal([...TOKENS, '--json', SOURCE])).to.contain(
        '--json cannot be used with --tokens',
      );
    }),
  'translate --tokens': () =>
    inWorkplace(async (place) => {
      expect((await decoded(place)).hypotheses).to.have.length(1);
      expect(await place.refusal(['translate', ...MODEL, SOURCE])).to.contain(
        '--model acts only with --tokens',
      );
    }),
  'translate --model': () =>
    inWorkplace(async (place) => {
      const of = (name: string): Promise<string> =>
        place.printed(['translate', '--tokens', '--model', ct2Fixture(name), '--max-length', '9', SOURCE]);
      expect(await of('tiny-m2m-float32')).not.to.equal(await of('tiny-marian-float32'));
      expect(await place.refusal(['translate', '--tokens', SOURCE])).to.contain('--tokens needs --model');
    }),
};

export const translateRows: OptionRows = {
  ...ofText,
  ...decoding('--beam', ['2'], async (place) => {
    expect(score(await decoded(place, '--beam', '4'))).to.be.above(
      score(await decoded(place, '--beam', '1')),
    );
  }),
  ...decoding('--n-best', ['2'], async (place) => {
    expect((await decoded(place)).hypotheses).to.have.length(1);
    const { hypotheses, scores } = await decoded(place, '--n-best', '3');
    expect(hypotheses).to.have.length(3);
    expect([...scores].sort((a, b) => b - a)).to.deep.equal(scores);
  }),
  ...decoding('--length-penalty', ['2'], async (place) => {
    const words = ['--max-length', '5', '--min-length', '5'];
    const sum = score(await decoded(place, ...words, '--length-penalty', '0'));
    expect(score(await decoded(place, ...words))).to.be.closeTo(sum / 5, 1e-4);
    expect(score(await decoded(place, ...words, '--length-penalty', '2'))).to.be.closeTo(sum / 25, 1e-4);
  }),
  ...decoding('--coverage-penalty', ['1'], async (place) => {
    expect(score(await decoded(place, '--coverage-penalty', '0.5'))).to.be.below(score(await decoded(place)));
  }),
  ...decoding('--patience', ['2'], async (place) => {
    // A search that waits for more hypotheses to end finds, here, a better one.
    const words = ['--model', ct2Fixture('tiny-m2m-float32'), '--max-length', '20', 't65 t72 t79 t86'];
    const best = async (...more: string[]): Promise<number> =>
      score(await place.json<Line>(['translate', '--tokens', ...more, ...words]));
    expect(await best('--patience', '3')).to.be.above(await best());
  }),
  ...decoding('--max-length', ['9'], async (place) => {
    expect(best(await decoded(place, '--max-length', '5'))).to.have.length(5);
    expect(best(await decoded(place, '--max-length', '7'))).to.have.length(7);
  }),
  ...decoding('--min-length', ['2'], async (place) => {
    expect(best(await decoded(place, '--beam', '1'))).to.have.length(6);
    expect(best(await decoded(place, '--beam', '1', '--min-length', '9')).length).to.be.at.least(9);
    expect(await place.refusal([...TOKENS, '--min-length', '9', '--max-length', '8', SOURCE])).to.contain(
      '--min-length is "9"; allowed: at most --max-length, "8"',
    );
  }),
  ...decoding('--repetition-penalty', ['1.5'], async (place) => {
    expect(mostRepeated(best(await decoded(place)), 1)).to.be.above(2);
    expect(mostRepeated(best(await decoded(place, '--repetition-penalty', '1.5')), 1)).to.equal(1);
  }),
  ...decoding('--no-repeat-ngram', ['2'], async (place) => {
    expect(mostRepeated(best(await decoded(place)), 2)).to.be.above(1);
    const tokens = best(await decoded(place, '--no-repeat-ngram', '2'));
    expect(mostRepeated(tokens, 2)).to.equal(1);
    expect(mostRepeated(tokens, 1)).to.be.above(1);
    expect(mostRepeated(best(await decoded(place, '--no-repeat-ngram', '1')), 1)).to.equal(1);
  }),
  ...decoding('--disable-unk', [], async (place) => {
    const directory = withUnknown(join(place.directory, 'unknown'), 't159');
    const words = ['translate', '--tokens', '--model', directory, '--max-length', '12', SOURCE];
    expect(best(await place.json<Line>(words))).to.include('<unk>');
    expect(best(await place.json<Line>([...words, '--disable-unk']))).not.to.include('<unk>');
  }),
  ...decoding('--compute', ['int8'], async (place) => {
    const exact = score(await decoded(place, '--compute', 'float32'));
    const rounded = score(await decoded(place, '--compute', 'int8'));
    expect(rounded).not.to.equal(exact);
    expect(rounded).to.be.closeTo(exact, 0.2);
  }),
  ...decoding('--batch', ['1'], async (place) => {
    const lines = [SOURCE, SOURCE, SOURCE].join('\n');
    const words = [...TOKENS, '--max-length', '3', lines];
    expect(await batchesOf(() => place.printed(words))).to.deep.equal([3]);
    expect(await batchesOf(() => place.printed([...words, '--batch', '2']))).to.deep.equal([2, 1]);
  }),
};
