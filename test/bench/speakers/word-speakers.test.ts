import { expect } from 'chai';
import { seededRandom } from '../../../bench/load/random.js';
import {
  judgedByText,
  judgedByTurns,
  rightOfOneSpeaker,
  rightOfRandomSpeakers,
  rightWords,
  wordsOfTurns,
  type AttributedWord,
  type SpokenTurn,
} from '../../../bench/speakers/word-speakers.js';
import { scoreWords, wordSpeakerTable } from '../../../bench/reports/word-speaker-table.js';

/** 'A 0-10 Good day.' */
function turns(...texts: string[]): SpokenTurn[] {
  return texts.map((line) => {
    const [speaker = '', times = '', ...words] = line.split(' ');
    const [startSeconds = NaN, endSeconds = NaN] = times.split('-').map(Number);
    return { startSeconds, endSeconds, speaker, text: words.join(' ') };
  });
}

/** 'x good': at a time that nobody asks for. */
function recognised(...lines: string[]): AttributedWord[] {
  return lines.map((line) => {
    const [speaker = '', word = ''] = line.split(' ');
    return { startSeconds: 0, endSeconds: 0, speaker, word };
  });
}

/** 'Ax': who it is, and who is found. */
const judged = (...pairs: string[]): { known: string; found: string }[] =>
  pairs.map(([known = '', found = '']) => ({ known, found }));

const SPOKEN = turns('A 0-4 one two three four', 'B 4-6 five six');

describe('Words with the right speaker', () => {
  it('lie evenly in their turn, by their start where turns overlap', () => {
    const words = wordsOfTurns(turns('A 1-4 a  b c', 'B 2.5-3.5 x', 'B 5-6  '));
    expect(
      words.map(({ word, speaker, startSeconds, endSeconds }) => [word, speaker, startSeconds, endSeconds]),
    ).to.deep.equal([
      ['a', 'A', 1, 2],
      ['b', 'A', 2, 3],
      ['x', 'B', 2.5, 3.5],
      ['c', 'A', 3, 4],
    ]);
  });

  it('are theirs whose turn most of a word lies in, else whose turn is nearest', () => {
    // "four" is at 3 to 4: x has 0.4 of it, y 0.6; "six", at 5 to 6, is found to be nobody's, and y ends before it.
    const found = judgedByTurns(wordsOfTurns(SPOKEN), turns('x 0-3.4', 'y 3.4-4.9'));
    expect(found.map((word) => word.found).join('')).to.equal('xxxyyy');
    expect(found.map((word) => word.known).join('')).to.equal('AAAABB');
    expect(rightWords(found)).to.equal(5);
    expect(rightWords(judgedByTurns(wordsOfTurns(SPOKEN), []))).to.equal(4);
  });

  it('are of recognised words those that were said; others are not judged', () => {
    const words = wordsOfTurns(SPOKEN);
    const found = judgedByText(words, recognised('x One,', 'x to', 'y three', 'y more', 'x five', 'y six.'));
    expect(found).to.deep.equal(judged('Ax', 'Ay', 'Bx', 'By'));
    expect(rightWords(found)).to.equal(2);
    expect(judgedByText(words, [])).to.deep.equal([]);
  });

  it('are counted under the best mapping, not the one that begins with the best pair', () => {
    // x-A, 3, leaves nothing for y but B, of whom it has none; y-A and x-B are 2 each.
    expect(rightWords(judged('Ax', 'Ax', 'Ax', 'Ay', 'Ay', 'Bx', 'Bx'))).to.equal(4);
    expect(rightWords(judged('AB', 'AB', 'BA'))).to.equal(3);
    // One speaker stands for one: of three who are found of A, the two words of x.
    expect(rightWords(judged('Ax', 'Ax', 'Ay', 'Az'))).to.equal(2);
    expect(rightWords([])).to.equal(0);
  });

  it('are beside what is right of one speaker for all, and of labels drawn for each turn', () => {
    expect(rightOfOneSpeaker(wordsOfTurns(SPOKEN))).to.equal(4);
    const random = seededRandom(14);
    const draws = Array.from({ length: 50 }, () => rightOfRandomSpeakers(SPOKEN, random));
    // The two turns have different labels, or one.
    expect(new Set(draws)).to.deep.equal(new Set([4, 6]));
  });

  it('are shares of the words of a recording, and of all recordings together', () => {
    const byTurns = scoreWords('one', SPOKEN, turns('x 0-3.4', 'y 3.4-4.9'));
    const words = recognised('x one', 'y two');
    const byText = scoreWords('other', turns('A 0-1 one', 'B 1-2 two', 'B 2-3 three'), { words, turns: [] });
    const silent = scoreWords('silent', [], []);
    const { rows } = wordSpeakerTable([byTurns, byText, silent]);
    expect(rows[0]).to.include({ words: 6, judged: 6, 'right %': 83.3, 'one speaker, right %': 66.7 });
    expect(rows[1]).to.include({ words: 3, judged: 2, 'right %': 100, 'one speaker, right %': 66.7 });
    expect(rows[2]).to.include({ words: 0, judged: 0, 'right %': null, 'one speaker, right %': null });
    // 7 of 8 and 6 of 9.
    expect(rows[3]).to.include({
      recording: 'all',
      words: 9,
      judged: 8,
      'right %': 87.5,
      'one speaker, right %': 66.7,
    });
  });
});
