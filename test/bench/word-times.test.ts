import { expect } from 'chai';
import {
  collarF1,
  distanceToSound,
  wordsOutsideSound,
  wordTimeErrors,
  wordTimeTable,
  type JudgedTranscript,
} from '../../bench/reports/word-times.js';
import type { TimedClip, SpokenWord } from '../../src/models/alignment/timed-clips.js';

type Times = [word: string, start: number, end: number];

const timed = (words: readonly Times[]): SpokenWord[] => words.map(([word, start, end]) => ({ word, start, end }));

function transcript(
  spoken: readonly Times[],
  recognised: readonly Times[],
  of: Partial<TimedClip> = {},
): JudgedTranscript {
  const text = spoken.map(([word]) => word).join(' ');
  const clip = { path: 'a.wav', language: 'de', text, kind: null, voices: null, words: timed(spoken), ...of };
  return { clip, words: timed(recognised) };
}

const SPOKEN: Times[] = [
  ['Guten', 1, 1.5],
  ['Tag.', 1.5, 2],
];

describe('The judge of word times', () => {
  it('reports by how much the words that were understood are late', () => {
    const spoken = transcript(SPOKEN, [
      ['guten', 1.25, 1.375],
      ['Abend', 1.5, 2],
    ]);
    expect(wordTimeErrors(spoken)).to.deep.equal([{ word: 'Guten', start: 0.25, end: -0.125 }]);
  });

  it('counts for F1 what has the right text and both borders within the collar', () => {
    const exact = transcript(SPOKEN, SPOKEN);
    expect(collarF1([exact], 0.05)).to.equal(100);
    const late = transcript(SPOKEN, [
      ['Guten', 1.0625, 1.5],
      ['Tag', 1.5, 2.0625],
    ]);
    expect(collarF1([late], 0.05)).to.equal(0);
    expect(collarF1([late], 0.2)).to.equal(100);
    // Two hits; four words said, three recognised.
    const missed = transcript(SPOKEN, [['Tag', 1.5, 2]]);
    const both = collarF1([transcript(SPOKEN, [...SPOKEN.slice(0, 1), ['und', 3, 4]]), missed], 0.05);
    expect(both).to.equal((200 * 2) / (4 + 3));
    expect(collarF1([transcript([], [])], 0.05)).to.equal(0);
  });

  it('counts words that begin farther than 0.1 s from any sound', () => {
    const words: Times[] = [
      ['und', 0.875, 1],
      ['nun', 0.9375, 1],
      ['Tag', 2.0625, 2.5],
      ['auch', 2.125, 2.5],
    ];
    expect(wordsOutsideSound([transcript(SPOKEN, words)])).to.equal(2);
    expect(distanceToSound(timed(SPOKEN), 1.75)).to.equal(0);
    expect(distanceToSound(timed(SPOKEN), 2.5)).to.equal(0.5);
    expect(distanceToSound([], 1)).to.equal(Infinity);
  });

  it('makes a row a group', () => {
    const english = transcript([['Yes.', 1, 2]], [['Yes', 1.0625, 1.9375]], { language: 'en' });
    const german = [
      transcript(SPOKEN, SPOKEN),
      transcript(SPOKEN, [
        ['Guten', 1.25, 1.5],
        ['Tag', 1.5, 2],
      ]),
    ];
    const { rows } = wordTimeTable('Words', [...german, english], ({ language }) => ({ language }));
    expect(rows.map(({ language }) => language)).to.deep.equal(['de', 'en']);
    expect(rows[0]).to.deep.include({ clips: 2, words: 4, matched: 4, 'start p90, ms': 250 });
    expect(rows[0]).to.deep.include({ 'within 150 ms %': 75, 'F1 50 ms': 0.75, 'outside sound %': 0 });
    expect(rows[1]).to.deep.include({ 'start, ms': 62.5, 'start late, ms': 62.5, 'end late, ms': -62.5 });
  });

  it('has no errors to report where nothing was recognised', () => {
    const { rows } = wordTimeTable('Words', [transcript(SPOKEN, [])], () => ({}));
    expect(rows[0]).to.deep.include({ words: 2, matched: 0, 'start, ms': null, 'F1 200 ms': 0 });
  });
});
