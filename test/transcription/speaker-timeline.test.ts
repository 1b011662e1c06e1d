import { expect } from 'chai';
import fc from 'fast-check';
import type { SpeakerTurn } from '../../src/engine/speakers/speaker-turn.js';
import { SpeakerTimeline } from '../../src/transcription/speaker-timeline.js';

const turn = (speaker: string, startSeconds: number, endSeconds: number): SpeakerTurn => ({
  ...{ startSeconds, endSeconds, speaker },
});
const span = (startSeconds: number, endSeconds: number) => ({ startSeconds, endSeconds });

describe('SpeakerTimeline', () => {
  const of = (turns: SpeakerTurn[], startSeconds: number, endSeconds: number): string =>
    new SpeakerTimeline(turns, 100).speakerOf(span(startSeconds, endSeconds));

  it('gives a word to whoever speaks for most of it, in all turns together', () => {
    const turns = [turn('A', 0, 2), turn('B', 2, 3), turn('A', 3, 4)];
    expect(of(turns, 1.5, 2.7)).to.equal('B');
    expect(of(turns, 1.4, 2.5)).to.equal('A');
    expect(of(turns, 1.5, 3.6)).to.equal('A');
  });

  it('else to whoever of equals began earlier', () => {
    expect(of([turn('B', 1, 5), turn('A', 0, 5)], 2, 3)).to.equal('A');
    expect(of([turn('A', 0, 2), turn('B', 2, 4)], 1.5, 2.5)).to.equal('A');
    // What floating-point numbers make of these is not the same length.
    expect(of([turn('A', 0, 0.3), turn('B', 0.3, 1)], 0.1, 0.5)).to.equal('A');
  });

  it('a word that nobody has a turn at, to the nearest turn', () => {
    const turns = [turn('A', 1, 2), turn('B', 4, 5)];
    expect(of(turns, 0, 0.5)).to.equal('A');
    expect(of(turns, 2.5, 3)).to.equal('A');
    expect(of(turns, 2.5, 3.5)).to.equal('A');
    expect(of(turns, 2.8, 3.5)).to.equal('B');
    expect(of(turns, 9, 9.5)).to.equal('B');
  });

  it('a word that was said in no time, to whoever spoke then', () => {
    const turns = [turn('A', 1, 2), turn('B', 2, 5)];
    expect(of(turns, 1.5, 1.5)).to.equal('A');
    expect(of(turns, 2, 2)).to.equal('A');
    expect(of(turns, 2.5, 2.5)).to.equal('B');
  });

  it('takes all words for one person’s where no speaker was found', () => {
    const timeline = new SpeakerTimeline([], 10);
    expect(timeline.nameOf(timeline.speakerOf(span(1, 2)))).to.equal('S1');
    expect(timeline.nameOf(timeline.speakerOf(span(8, 9)))).to.equal('S1');
  });

  it('names people in the order in which they are asked for', () => {
    const timeline = new SpeakerTimeline([turn('S2', 0, 1), turn('S1', 1, 2)], 10);
    expect(['S1', 'S2', 'S1'].map((speaker) => timeline.nameOf(speaker))).to.deep.equal(['S1', 'S2', 'S1']);
    expect(new SpeakerTimeline([], 10).nameOf('S7')).to.equal('S1');
  });

  it('keeps to the file, in whole thousandths, and makes turns of one speaker one where they overlap', () => {
    const turns = [turn('A', 3, 4.5), turn('A', 4, 11), turn('B', -1, 0.12345), turn('B', 12, 13)];
    expect(new SpeakerTimeline(turns, 10.0004).turnsWithout([])).to.deep.equal([
      { ...span(0, 0.123), speaker: 'B' },
      { ...span(3, 10), speaker: 'A' },
    ]);
  });

  it('reports the speaker of turns without a text', () => {
    const timeline = new SpeakerTimeline([turn('A', 0, 2), turn('B', 1, 3), turn('A', 5, 6)], 10);
    const words = [
      { ...span(0.5, 1.5), speaker: 'A' },
      { ...span(2, 5), speaker: 'A' },
    ];
    expect(timeline.turnsWithout(words)).to.deep.equal([
      { ...span(1, 3), speaker: 'B' },
      { ...span(5, 6), speaker: 'A' },
    ]);
    const atTheEdge = [...words, { ...span(6, 6), speaker: 'A' }];
    expect(timeline.turnsWithout(atTheEdge)).to.deep.equal([{ ...span(1, 3), speaker: 'B' }]);
  });

  it('finds what a look at every turn finds', () => {
    const turns = fc.array(
      fc
        .tuple(fc.constantFrom('A', 'B', 'C'), fc.nat(40), fc.integer({ min: 1, max: 10 }))
        .map(([speaker, start, length]) => turn(speaker, start / 4, (start + length) / 4)),
      { minLength: 1, maxLength: 12 },
    );
    const word = fc.tuple(fc.nat(44), fc.nat(6)).map(([start, length]) => span(start / 4, (start + length) / 4));
    fc.assert(
      fc.property(turns, word, (given, asked) => {
        const speakers = [...new Set(given.map(({ speaker }) => speaker))];
        const overlap = (speaker: string): number => {
          // Quarters of a second are exact.
          let quarters = 0;
          for (let at = asked.startSeconds; at < asked.endSeconds; at += 0.25) {
            const isSpeaking = given.some(
              (one) => one.speaker === speaker && one.startSeconds <= at && at < one.endSeconds,
            );
            if (isSpeaking) quarters++;
          }
          return quarters;
        };
        const distance = (speaker: string): number =>
          Math.min(
            ...given
              .filter((one) => one.speaker === speaker)
              .map((one) => Math.max(0, one.startSeconds - asked.endSeconds, asked.startSeconds - one.endSeconds)),
          );
        const found = new SpeakerTimeline(given, 100).speakerOf(asked);
        const most = Math.max(...speakers.map(overlap));
        expect(overlap(found)).to.equal(most);
        if (most === 0) expect(distance(found)).to.equal(Math.min(...speakers.map(distance)));
      }),
      { numRuns: 2000 },
    );
  });
});
