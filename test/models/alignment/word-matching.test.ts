import { expect } from 'chai';
import fc from 'fast-check';
import { matchWords, plainWord } from '../../../src/models/alignment/word-matching.js';

const match = (spoken: string, recognised: string): [number, number][] =>
  matchWords(spoken.split(' '), recognised.split(' ')).map((pair) => [pair.spoken, pair.recognised]);

describe('Matching of recognised words with spoken ones', () => {
  it('looks past case, spaces and punctuation, not past what is inside a word', () => {
    expect(plainWord(' ¿Dónde')).to.equal('dónde');
    expect(plainWord('l’hôtel?')).to.equal("l'hôtel");
    expect(plainWord('Twenty-two,')).to.equal('twenty-two');
    expect(plainWord('Do\u0301nde')).to.equal('dónde');
    expect(plainWord('...')).to.equal('');
  });

  it('pairs equal words in order', () => {
    expect(match('Where is the station?', 'where Is the station')).to.deep.equal([
      [0, 0],
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });

  it('goes on behind a word that was left out, added or misheard', () => {
    expect(match('one two three four', 'one three four')).to.deep.equal([
      [0, 0],
      [2, 1],
      [3, 2],
    ]);
    expect(match('one two', 'well one two')).to.deep.equal([
      [0, 1],
      [1, 2],
    ]);
    expect(match('one two three', 'one too three')).to.deep.equal([
      [0, 0],
      [2, 2],
    ]);
  });

  it('prefers, of alignments with as many edits, the one with more equal words', () => {
    // Two substitutions pair nothing; a deletion and an insertion pair b.
    expect(match('a b', 'b c')).to.deep.equal([[1, 0]]);
  });

  it('finds nothing in nothing', () => {
    expect(matchWords([], ['a'])).to.deep.equal([]);
    expect(matchWords(['a'], [])).to.deep.equal([]);
  });

  it('pairs words once, in order, and all of them where the texts are the same', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
    fc.assert(
      fc.property(words, words, (one, other) => {
        const pairs = matchWords(one, other);
        for (const [index, pair] of pairs.entries()) {
          expect(one[pair.spoken]).to.equal(other[pair.recognised]);
          const before = pairs[index - 1] ?? { spoken: -1, recognised: -1 };
          expect(pair.spoken).to.be.above(before.spoken);
          expect(pair.recognised).to.be.above(before.recognised);
        }
        expect(matchWords(one, one)).to.have.length(one.length);
      }),
    );
  });
});
