/** What is committed of growing decodings. */
import { expect } from 'chai';
import type { Segment, Word } from '../../src/engine/binding.js';
import type { RecognisedUtterance } from '../../src/engine/types.js';
import { agreedText, CommittedText, type CommittedPiece } from '../../src/live/committed-text.js';
import { splitSegments, textOf } from '../../src/live/segment-split.js';
import { Mulberry32 } from '../support/random.js';

/** A decoding with a word of a text every half second, in segments that end behind these words. */
function decoded(text: string, ends: readonly number[] = [], hasWords = true): RecognisedUtterance {
  const words: Word[] = (text.match(/\s*\S+/gu) ?? []).map((word, index) => ({
    ...{ text: word, startSeconds: index / 2, endSeconds: (index + 1) / 2, probability: 0.9 },
  }));
  const segments: Segment[] = [];
  let first = 0;
  for (const end of [...ends.filter((at) => at < words.length), words.length]) {
    const own = words.slice(first, end);
    const [begin, last] = [own[0], own.at(-1)];
    if (begin === undefined || last === undefined) continue;
    segments.push({
      ...{ startSeconds: begin.startSeconds, endSeconds: last.endSeconds, noSpeechProbability: 0 },
      ...{
        text: textOf(own.map((word) => ({ ...word, noSpeechProbability: 0 }))),
        ...(hasWords ? { words: own } : {}),
      },
      decoding: { windowStartSeconds: 0, tokens: own.map((_, i) => i), averageLogProbability: -0.1, temperature: 0 },
    });
    first = end;
  }
  return {
    ...{ language: 'en', languageProbabilities: { en: 0.9 }, segments, averageLogProbability: -0.1 },
    ...{ scoredTokens: words.length, workMs: 10 },
  };
}

const spoken = (piece: CommittedPiece | null): string | null => (piece === null ? null : textOf(piece.segments));

let seconds = 0;

/** A second later than the decoding before. */
function grow(committed: CommittedText, result: RecognisedUtterance): CommittedPiece | null {
  return committed.add(result, (seconds += 1));
}

describe('Text that decodings agree on', () => {
  it('is the words that all begin with, without the last one of the newest', () => {
    expect(agreedText([' One two three', ' One two three four'], 'en')).to.equal(' One two three');
    expect(agreedText([' One two three', ' One two three'], 'en')).to.equal(' One two');
    expect(agreedText([' One two, three', ' One two three four'], 'en')).to.equal(' One');
    expect(agreedText([' One', ' Two words'], 'en')).to.equal('');
    expect(agreedText(['', ' Two words'], 'en')).to.equal('');
    expect(agreedText([' Two words', ''], 'en')).to.equal('');
    expect(agreedText([' a b c d', ' a b c e f', ' a b x y z'], 'en')).to.equal(' a b');
    expect(agreedText(['東京都に住んでいます', '東京都に住んでいました。'], 'ja')).to.satisfy(
      (text: string) => text !== '' && '東京都に住んで'.startsWith(text),
    );
  });

  it('is committed piece by piece, with its times', () => {
    const committed = new CommittedText(0, 'prefix', 0);
    expect(grow(committed, decoded(' One two'))).to.equal(null);
    expect(committed.prefix).to.equal(null);
    const piece = grow(committed, decoded(' One two three'));
    expect(piece).to.deep.include({ startSeconds: 0, endSeconds: 1, language: 'en', continuesWord: false });
    expect(spoken(piece)).to.equal(' One two');
    expect(committed.prefix?.text).to.equal(' One two');
    expect(committed.language).to.deep.include({ language: 'en', languageProbabilities: { en: 0.9 } });
    const next = grow(committed, decoded(' One two three four five'));
    expect(next).to.deep.include({ startSeconds: 1, endSeconds: 1.5 });
    expect(spoken(next)).to.equal(' three');
    expect(next?.segments[0]?.words?.map(({ text }) => text)).to.deep.equal([' three']);
    expect(next?.segments[0]).not.to.have.property('decoding');
    expect(textOf(committed.restOf(decoded(' One two three four five six.')).segments)).to.equal(' four five six.');
  });

  it('takes as much time as is asked for, and commits nothing where nothing keeps it', () => {
    const three = new CommittedText(2, 'prefix', 0);
    expect([1, 2].map(() => grow(three, decoded(' One two')))).to.deep.equal([null, null]);
    expect(spoken(grow(three, decoded(' One two')))).to.equal(' One');
    for (const none of [new CommittedText(null, 'prefix', 0), new CommittedText(0, null, 0)]) {
      for (let i = 0; i < 4; i++) expect(grow(none, decoded(' One two three'))).to.equal(null);
      expect(textOf(none.restOf(decoded(' One two')).segments)).to.equal(' One two');
    }
  });

  it('goes on inside of a word where a later decoding writes on to it', () => {
    const committed = new CommittedText(0, 'prefix', 0);
    grow(committed, decoded(' Hello world and'));
    expect(spoken(grow(committed, decoded(' Hello world and')))).to.equal(' Hello world');
    const rest = committed.restOf(decoded(' Hello world. And more'));
    expect(rest.continuesWord).to.equal(true);
    expect(textOf(rest.segments)).to.equal('. And more');
    expect(rest.segments[0]?.words?.[0]).to.include({ text: '.', startSeconds: 1, endSeconds: 1 });
    // Not where a segment ends.
    expect(committed.restOf(decoded(' Hello world And', [2])).continuesWord).to.equal(false);
  });

  it('stays where the model takes no prefix: what follows it by its time is left', () => {
    const committed = new CommittedText(0, 'words', 0);
    grow(committed, decoded(' One two three'));
    grow(committed, decoded(' One two three'));
    expect(committed.prefix).to.equal(null);
    expect(committed.endSeconds).to.equal(1);
    expect(textOf(committed.restOf(decoded(' one, two three four')).segments)).to.equal(' three four');
    expect(textOf(committed.restOf(decoded(' None')).segments)).to.equal('');
  });

  it('is committed of no text that is too long for a prefix', () => {
    const text = ' a'.repeat(181);
    const committed = new CommittedText(0, 'prefix', 0);
    expect([1, 2, 3].map(() => grow(committed, decoded(text)))).to.deep.equal([null, null, null]);
    expect(spoken(grow(committed, decoded(' a'.repeat(180))))).to.equal(' a'.repeat(179));
    const words = new CommittedText(0, 'words', 0);
    grow(words, decoded(text));
    expect(spoken(grow(words, decoded(text)))).to.equal(' a'.repeat(180));
  });

  it('is never contradicted, whatever is decoded: 300 random utterances', () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = new Mulberry32(seed);
      const commits = random.below(3) === 0 ? 'words' : 'prefix';
      const committed = new CommittedText(2 * random.below(2), commits, 0);
      let text = '';
      let end = 0;
      for (let round = 0; round < 12; round++) {
        const result = grown(random, commits === 'prefix' ? text : '', round);
        const piece = grow(committed, result);
        if (piece === null) continue;
        expect(piece.startSeconds, String(seed)).to.equal(end);
        expect(piece.endSeconds).to.be.at.least(piece.startSeconds);
        end = piece.endSeconds;
        text += textOf(piece.segments);
        if (commits !== 'prefix') continue;
        expect(committed.prefix?.text).to.equal(text);
        // What the same decoding says behind it makes it whole.
        expect(text + textOf(committed.restOf(result).segments)).to.equal(textOf(result.segments));
      }
    }
  });
});

/** A decoding that is forced through a text, and else says what it likes. */
function grown(random: Mulberry32, prefix: string, round: number): RecognisedUtterance {
  const words = ['one', 'two', 'three.', 'four,'];
  let text = prefix;
  const count = Math.max(1, round - random.below(3));
  if (prefix !== '' && random.below(6) === 0) text += random.pick(['s', '.', ', and']);
  for (let i = text.split(' ').length - 1; i < count; i++) {
    text += ` ${random.below(5) === 0 ? random.pick(words) : words[i % words.length]!}`;
  }
  const ends = [random.below(6), 3 + random.below(6)].sort((one, other) => one - other);
  return decoded(text, ends, random.below(3) > 0);
}

describe('Segments cut in two', () => {
  it('are together what they were, at every place', () => {
    const { segments } = decoded(' One two three four five.', [2, 3]);
    const whole = textOf(segments);
    for (let units = 0; units <= whole.length; units++) {
      const { before, after, seconds } = splitSegments(segments, units);
      expect(textOf(before)).to.equal(whole.slice(0, units));
      expect(textOf(after)).to.equal(whole.slice(units));
      for (const part of [...before, ...after]) {
        expect((part.words ?? []).map(({ text }) => text).join('')).to.equal(part.text);
        expect(part.endSeconds).to.be.at.least(part.startSeconds);
      }
      for (const { endSeconds } of before) expect(endSeconds).to.be.at.most(seconds);
      for (const { startSeconds } of after) expect(startSeconds).to.be.at.least(seconds - 0.5);
    }
  });

  it('have estimated times without words', () => {
    const { segments } = decoded(' One two three four', [], false);
    const { before, after, seconds, isInside } = splitSegments(segments, 8);
    expect({ seconds, isInside }).to.deep.equal({ seconds: (2 * 8) / 19, isInside: true });
    expect(before[0]?.endSeconds).to.equal(after[0]?.startSeconds);
  });
});
