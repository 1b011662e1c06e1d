import { expect } from 'chai';
import { highlighted } from '../../../src/http/dashboard/transcripts/highlight.js';
import { clockOf, secondsOfClock, sizeOf } from '../../../src/http/dashboard/transcripts/clock.js';

/** Matches in brackets. */
const marked = (text: string, query: string): string =>
  highlighted(text, query)
    .map((piece) => (piece.isMatch ? `[${piece.text}]` : piece.text))
    .join('');

describe('words that were sought, in a sentence', () => {
  it('are marked whatever their case and accents, the last one as far as it is written', () => {
    expect(marked('We met at the CAFÉ today.', 'cafe tod')).to.equal('We met at the [CAFÉ] [tod]ay.');
    expect(marked('ﬁne Öl', 'fine ol')).to.equal('[ﬁne] [Öl]');
  });

  it('are not marked within other words, unless their script has no spaces', () => {
    expect(marked('category cat', 'cat')).to.equal('[cat]egory [cat]');
    expect(marked('a bobcat', 'cat')).to.equal('a bobcat');
    expect(marked('我在北京大学', '北京')).to.equal('我在[北京]大学');
  });

  it('mark nothing without words', () => {
    expect(marked('Text.', '!?')).to.equal('Text.');
  });

  it('keep a long text to the part around the first of them', () => {
    const text = `${'word '.repeat(100)}needle ${'more '.repeat(100)}`;
    const cut = marked(text, 'needle');
    expect(cut).to.match(/^…word .*\[needle\] more .*…$/);
    expect(cut.length).to.be.lessThan(240);
  });
});

describe('times and sizes for people', () => {
  it('are written, and times read back', () => {
    expect([0, 65.9, 3725].map(clockOf)).to.deep.equal(['0:00', '1:05', '1:02:05']);
    expect(['1:05', '1:02:05', '65', ' 0:02.5 '].map(secondsOfClock)).to.deep.equal([65, 3725, 65, 2.5]);
    expect(['', 'a', '1:2:3:4', '-1', '1:'].map(secondsOfClock)).to.deep.equal([null, null, null, null, null]);
    expect([0, 999, 1500, 20_000_000, 2_147_483_648].map(sizeOf)).to.deep.equal([
      ...['0 B', '999 B', '1.5 kB', '20 MB', '2.1 GB'],
    ]);
  });
});
