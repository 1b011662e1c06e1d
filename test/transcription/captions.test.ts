import { expect } from 'chai';
import fc from 'fast-check';
import type { Word } from '../../src/engine/binding.js';
import { captionsOf, type Caption, type Captioned } from '../../src/transcription/captions.js';

/** Words at their places: a number of seconds stands before what is said from then on. */
function spoken(...parts: (number | string)[]): Captioned {
  const words: Word[] = [];
  let at = 0;
  for (const part of parts) {
    if (typeof part === 'number') at = part;
    else
      for (const text of part.match(/\s*\S+/gu) ?? []) {
        words.push({ text, startSeconds: at, endSeconds: at + 0.3, probability: 0.9 });
        at += 0.3;
      }
  }
  return segmentOf(words);
}

function segmentOf(words: Word[]): Captioned {
  const text = words.map((word) => word.text).join('');
  return { startSeconds: words[0]!.startSeconds, endSeconds: words.at(-1)!.endSeconds, text, words };
}

const textsOf = (captions: readonly Caption[]): string[] => captions.map(({ text }) => text);
const textsIn = async (language: string, ...texts: Captioned[]): Promise<string[]> =>
  textsOf(await captionsOf(texts, language, 1000));

describe('captionsOf', () => {
  it('gives each sentence a caption', async () => {
    const one = spoken(0, ' The train to Hamburg leaves at nine.', ' It stops in Berlin and Hanover.');
    expect(await textsIn('en', one)).to.deep.equal([
      'The train to Hamburg leaves at nine.',
      'It stops in Berlin and Hanover.',
    ]);
  });

  it('joins sentences that would flash by', async () => {
    expect(await textsIn('en', spoken(0, ' Yes. No. I know.'))).to.deep.equal(['Yes. No. I know.']);
  });

  it('parts a sentence that is too long behind a clause', async () => {
    const long = spoken(
      ...[0, ' When the last of the passengers had left the train,'],
      ' the conductor walked through all of the empty carriages.',
    );
    expect(await textsIn('en', long)).to.deep.equal([
      'When the last of the passengers had left the train,',
      'the conductor walked through all of the empty carriages.',
    ]);
  });

  it('else in a pause', async () => {
    const long = spoken(
      ...[0, ' when the last of the passengers had left the train and gone home'],
      ...[4.5, ' the conductor walked through the empty carriages'],
    );
    expect((await textsIn('en', long))[1]).to.equal('the conductor walked through the empty carriages');
  });

  it('else between words, where it is about the middle', async () => {
    const long = spoken(0, ` ${Array<string>(24).fill('word').join(' ')}`);
    const lengths = (await textsIn('en', long)).map((text) => text.length);
    expect(lengths).to.deep.equal([59, 59]);
  });

  it('parts words with a long pause between them, within a sentence too', async () => {
    expect(await textsIn('en', spoken(0, ' one', 2, ' two.'))).to.deep.equal(['one', 'two.']);
  });

  it('does not take an abbreviation or the point of a number for the end of a sentence', async () => {
    const doctor = spoken(0, ' We have all been told to ask for Dr.', ' Brown when we get there.');
    expect(await textsIn('en', doctor)).to.deep.equal([
      'We have all been told to ask for Dr. Brown when we get there.',
    ]);
    const words = ['他', '的', '体', '重', '是', '3.', '5', '公', '斤。'].map((text, index) => ({
      ...{ text, probability: 1 },
      startSeconds: index * 0.4,
      endSeconds: index * 0.4 + 0.4,
    }));
    expect(await textsIn('zh', segmentOf(words))).to.deep.equal(['他的体重是3.5公斤。']);
  });

  it('goes on over the borders of segments, spaced as the language is', async () => {
    expect(await textsIn('en', spoken(0, 'the end'), spoken(1, 'of it.'))).to.deep.equal(['the end of it.']);
    expect(await textsIn('ja', spoken(0, '今日は'), spoken(0.5, '晴れです。'))).to.deep.equal(['今日は晴れです。']);
  });

  it('splits no word of a language without spaces, whose characters are aligned', async () => {
    const text = '東京駅から新幹線に乗って大阪へ向かいましたが途中で雪のために電車が止まってしまいました'.repeat(2);
    const words = Array.from(text).map((character, index) => ({
      ...{ text: character, startSeconds: index * 0.1, endSeconds: index * 0.1 + 0.1, probability: 1 },
    }));
    const texts = await textsIn('ja', segmentOf(words));
    expect(texts.length).to.be.above(1);
    expect(texts.join('')).to.equal(text);
    const whole = [...new Intl.Segmenter('ja', { granularity: 'word' }).segment(text)];
    const borders = new Set(whole.map(({ index }) => index));
    let at = 0;
    for (const part of texts) {
      expect(borders, part).to.include(at);
      at += part.length;
    }
  });

  it('takes a short segment without words as it is, and none of its words', async () => {
    const [caption, ...others] = await captionsOf(
      [{ startSeconds: 1.00049, endSeconds: 4, text: ' Hello,  world. ' }],
      'en',
      10,
    );
    expect(caption).to.deep.equal({ startSeconds: 1, endSeconds: 4, text: 'Hello, world.', words: [] });
    expect(others).to.deep.equal([]);
  });

  it('parts a short one whose words do not fill two lines', async () => {
    const text = Array<string>(3).fill('a'.repeat(25)).join(' ');
    expect(await textsIn('en', { startSeconds: 0, endSeconds: 6, text })).to.have.length(2);
  });

  it('shares the time of a long one by its characters', async () => {
    const text = ` ${'a'.repeat(39)}, ${'b'.repeat(39)}, ${'c'.repeat(39)}.`;
    const captions = await captionsOf([{ startSeconds: 10, endSeconds: 22.3, text }], 'en', 100);
    expect(captions.map(({ startSeconds, endSeconds }) => [startSeconds, endSeconds])).to.deep.equal([
      [10, 14.1],
      [14.1, 18.2],
      [18.2, 22.3],
    ]);
  });

  it('says nothing where nothing is said', async () => {
    expect(await captionsOf([], 'en', 3)).to.deep.equal([]);
    expect(await captionsOf([{ startSeconds: 0, endSeconds: 1, text: ' ' }], 'en', 3)).to.deep.equal([]);
    const blank = {
      startSeconds: 0,
      endSeconds: 1,
      text: ' ',
      words: [{ ...spoken(0, 'x').words![0]!, text: ' ' }],
    };
    expect(await captionsOf([blank], 'en', 3)).to.deep.equal([]);
  });

  it('fills two lines of 42, which three words of 25 are too long for', async () => {
    expect(await textsIn('en', spoken(0, ` ${Array<string>(3).fill('a'.repeat(25)).join(' ')}`))).to.have.length(2);
    expect(await textsIn('en', spoken(0, ` ${Array<string>(4).fill('a'.repeat(20)).join(' ')}`))).to.have.length(1);
  });

  describe('gives a word said in no time to its neighbours', () => {
    const atEnd = (...texts: string[]): Captioned =>
      segmentOf(
        texts.map((text, index) => ({
          ...{ text, probability: 1, startSeconds: index },
          endSeconds: Math.min(index + 1, texts.length - 1),
        })),
      );

    it('though a sentence ends there', async () => {
      const [long, end] = [` ${'a'.repeat(42)}`, ` ${'b'.repeat(40)}.`];
      expect(await textsIn('en', atEnd(long, end, ' so'))).to.deep.equal([long.trim(), `${end.trim()} so`]);
    });

    it('though they are full', async () => {
      const full = ` ${'a'.repeat(84)}.`;
      expect(await textsIn('en', atEnd(full, ' so'))).to.deep.equal([`${full.trim()} so`]);
    });
  });
});

/** Any words: of no length, out of order, past the end, with pauses, marks and odd spaces. */
const anyWord = fc.record({
  text: fc
    .tuple(
      fc.constantFrom(' ', '', '  ', ' '),
      fc.oneof(
        fc.constantFrom('a', 'word', 'Dr.', 'über', '👩‍🚀', '-->', 'no.', 'yes,', '5'),
        fc.string({ maxLength: 60 }),
      ),
    )
    .map(([space, text]) => space + text),
  gap: fc.constantFrom(0, 0, 0.01, 0.2, 0.7, 3, -0.3),
  seconds: fc.constantFrom(0, 0.1, 0.33333, 0.5, 1.7, 9),
  probability: fc.double({ min: 0, max: 1, noNaN: true }),
});

const anySegments = fc.array(fc.tuple(fc.boolean(), fc.array(anyWord, { minLength: 1, maxLength: 40, size: 'max' })), {
  maxLength: 6,
});

function segmentsOf(
  recipe: readonly [boolean, { text: string; gap: number; seconds: number; probability: number }[]][],
): {
  segments: Captioned[];
  end: number;
} {
  let end = 0;
  const segments = recipe.map(([aligned, words]) => {
    const segment = segmentOf(
      words.map(({ text, gap, seconds, probability }) => {
        const startSeconds = Math.max(0, end + gap);
        end = startSeconds + seconds;
        return { text, startSeconds, endSeconds: end, probability };
      }),
    );
    if (!aligned) delete segment.words;
    return segment;
  });
  return { segments, end };
}

const LANGUAGES = ['en', 'de', 'zh', 'ja', 'th', 'ar'];
const bare = (text: string): string => text.replace(/\s+/gu, '');

describe('any captions', () => {
  const all = (check: (captions: Caption[], segments: Captioned[], duration: number) => void): Promise<void> =>
    fc.assert(
      fc.asyncProperty(
        anySegments,
        fc.constantFrom(...LANGUAGES),
        fc.constantFrom(0.3, 0.9, 1, 1.2),
        async (recipe, language, part) => {
          const { segments, end } = segmentsOf(recipe);
          const duration = end * part;
          check(await captionsOf(segments, language, duration), segments, duration);
        },
      ),
      { numRuns: 500 },
    );

  it('say all that was said, and nothing else', () =>
    all((captions, segments) => {
      expect(bare(textsOf(captions).join(''))).to.equal(bare(segments.map(({ text }) => text).join('')));
    }));

  it('have the words of what was aligned', () =>
    all((captions, segments) => {
      const aligned = segments.flatMap(({ words = [] }) => words).map(({ text }) => text);
      const words = captions.flatMap(({ words }) => words);
      expect(bare(words.map(({ text }) => text).join(''))).to.equal(bare(aligned.join('')));
      for (const { text } of words) expect(text).to.equal(text.trim()).and.not.to.equal('');
    }));

  it('never go back, overlap, or pass the end, in whole thousandths', () =>
    all((captions, _, duration) => {
      for (const texts of [captions, captions.flatMap(({ words }) => words)]) {
        let last = 0;
        for (const { startSeconds, endSeconds } of texts) {
          for (const seconds of [startSeconds, endSeconds]) {
            expect(seconds)
              .to.be.at.least(last)
              .and.at.most(Math.round(duration * 1000) / 1000);
            expect(String(seconds)).to.match(/^\d+(\.\d{1,3})?$/);
            last = seconds;
          }
        }
      }
    }));

  it('have words within their own times', () =>
    all((captions) => {
      for (const { startSeconds, endSeconds, words } of captions) {
        for (const word of words) {
          expect(word.startSeconds).to.be.at.least(startSeconds);
          expect(word.endSeconds).to.be.at.most(endSeconds);
        }
      }
    }));

  it('keep to their limits where words do', () => {
    const word = fc.record({
      text: fc
        .string({ unit: fc.constantFrom('a', 'ü', ',', '.'), minLength: 1, maxLength: 21 })
        .map((text) => ` ${text}`),
      gap: fc.constantFrom(0, 0.2, 0.7),
      seconds: fc.constantFrom(0.001, 0.1, 0.4, 1),
      probability: fc.constant(0.5),
    });
    const words = fc.array(word, { minLength: 1, maxLength: 200, size: 'max' });
    return fc.assert(
      fc.asyncProperty(words, async (recipe) => {
        const { segments, end } = segmentsOf([[true, recipe]]);
        for (const { startSeconds, endSeconds, text } of await captionsOf(segments, 'en', end)) {
          expect(endSeconds).to.be.above(startSeconds);
          expect(endSeconds - startSeconds).to.be.at.most(7);
          expect(text.length).to.be.at.most(84);
          const second = text.slice(text.slice(0, 43).lastIndexOf(' ') + 1);
          expect(text.length <= 42 || second.length <= 42, text).to.equal(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('let others have their turns meanwhile', async () => {
    const words = Array.from({ length: 10_000 }, (_, index) => ({
      ...{ text: index % 9 === 8 ? ' end.' : ' word', probability: 1 },
      ...{ startSeconds: index * 0.3, endSeconds: index * 0.3 + 0.2 },
    }));
    const segments = Array.from({ length: 100 }, (_, index) => segmentOf(words.slice(index * 100, index * 100 + 100)));
    let turns = 0;
    const others = (): void => {
      turns++;
      turn = setImmediate(others);
    };
    let turn = setImmediate(others);
    const captions = await captionsOf(segments, 'en', 3000);
    clearImmediate(turn);
    expect(captions.length).to.be.above(500);
    expect(turns).to.be.above(2 * (10_000 / 1000));
  });
});
