import { expect } from 'chai';
import fc from 'fast-check';
import { retimedWords } from '../../src/library/retimed-words.js';
import { madeSegment } from './documents.js';

const word = fc.constantFrom('a', 'b', 'c', 'd', 'A', 'b,', 'word', 'Word.', 'longer-word', '—');
const text = fc.array(word, { maxLength: 14 }).map((words) => words.join(' '));

const letters = (of: string): string => of.toLowerCase().replace(/[.,]/g, '');

describe('Words of a corrected segment', () => {
  it('are those of the text, in order, without overlap, and within the segment, whatever is written', () => {
    fc.assert(
      fc.property(text, text, fc.double({ min: 0, max: 9, noNaN: true }), (before, after, start) => {
        const segment = madeSegment(before, Math.round(start * 1000) / 1000);
        const words = retimedWords(segment, after, 'en');
        expect(words.map((one) => one.text).join(' ')).to.equal(after);
        let last = segment.startSeconds;
        for (const { startSeconds, endSeconds, probability } of words) {
          expect(startSeconds).to.be.at.least(last);
          expect(endSeconds).to.be.at.least(startSeconds).and.at.most(segment.endSeconds);
          expect(probability).to.be.within(0, 1);
          last = endSeconds;
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('keep times and probability where they stay: as many as stay before the change and behind it, at least', () => {
    fc.assert(
      fc.property(text, text, text, text, (head, old, written, tail) => {
        const join = (...parts: string[]): string => parts.filter((part) => part !== '').join(' ');
        const segment = madeSegment(join(head, old, tail));
        const count = (part: string): number => (part === '' ? 0 : part.split(' ').length);
        const kept = retimedWords(segment, join(head, written, tail), 'en').filter((one) => one.probability < 1);
        expect(kept.length).to.be.at.least(count(head) + count(tail));
        for (const one of kept) {
          const before = segment.words.find(({ startSeconds }) => startSeconds === one.startSeconds);
          expect({ ...one, text: letters(one.text) }).to.deep.equal({ ...before, text: letters(before!.text) });
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('keep times and probability where they stay between others', () => {
    const segment = madeSegment('we red the good book today');
    const words = retimedWords(segment, 'we read the very good book', 'en');
    const stay = (of: string): unknown => words.find((one) => one.text === of);
    for (const of of ['we', 'the', 'good', 'book']) {
      expect(stay(of), of).to.deep.equal(segment.words.find((one) => one.text === of));
    }
  });

  it('are as many as were replaced: each gets the time of the one in its place', () => {
    const segment = madeSegment('their is a see');
    const words = retimedWords(segment, 'there is a sea', 'en');
    expect(words.map(({ startSeconds, endSeconds }) => [startSeconds, endSeconds])).to.deep.equal(
      segment.words.map(({ startSeconds, endSeconds }) => [startSeconds, endSeconds]),
    );
    expect(words.map(({ probability }) => probability)).to.deep.equal([1, 0.6, 0.7, 1]);
  });

  it('are more than were replaced: they share their time by their characters', () => {
    const segment = madeSegment('one two three');
    const words = retimedWords(segment, 'one to wonder three', 'en');
    expect(words.slice(1, 3).map(({ startSeconds, endSeconds }) => [startSeconds, endSeconds])).to.deep.equal([
      [0.4, 0.49],
      [0.49, 0.76],
    ]);
  });

  it('that change marks or capitals alone keep times and probability', () => {
    const segment = madeSegment('hello world again');
    const words = retimedWords(segment, 'Hello, world again!', 'en');
    expect(words).to.deep.equal(
      segment.words.map((one, index) => ({ ...one, text: ['Hello,', 'world', 'again!'][index] })),
    );
  });

  it('of a language without spaces are cut as the language is', () => {
    const segment = { ...madeSegment('北京 大学'), text: '北京大学' };
    const words = retimedWords(segment, '北京的大学', 'zh');
    expect(words.map((one) => one.text).join('')).to.equal('北京的大学');
    expect(words[0]).to.deep.equal(segment.words[0]);
    expect(words.at(-1)).to.deep.equal(segment.words.at(-1));
  });
});
