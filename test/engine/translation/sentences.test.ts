import { expect } from 'chai';
import {
  fitSentence,
  joinText,
  placesOf,
  splitEach,
  splitSentences,
  splitText,
} from '../../../src/engine/translation/sentences.js';

const words = (texts: string[]): Promise<number[]> =>
  Promise.resolve(texts.map((text) => text.split(/\s+/).filter(Boolean).length));
const characters = (texts: string[]): Promise<number[]> =>
  Promise.resolve(texts.map((text) => Array.from(text).length));

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Lengths of the texts that Intl.Segmenter gets meanwhile. */
async function segmentedLengths(work: () => Promise<void>): Promise<number[]> {
  const prototype = Intl.Segmenter.prototype;
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called on its own object below
  const original = prototype.segment;
  const lengths: number[] = [];
  prototype.segment = function (text): Intl.Segments {
    lengths.push(text.length);
    return original.call(this, text);
  };
  try {
    await work();
  } finally {
    prototype.segment = original;
  }
  return lengths;
}

describe('sentences', () => {
  it('are parted by the rules of the language', async () => {
    const cases: [string, string, string[]][] = [
      ['en', 'Hello there. How are you? Fine!', ['Hello there.', 'How are you?', 'Fine!']],
      ['es', '¿Qué tal? ¡Bien! Adiós.', ['¿Qué tal?', '¡Bien!', 'Adiós.']],
      ['zh', '你好。我是人！你呢？', ['你好。', '我是人！', '你呢？']],
      ['hi', 'यह एक है। वह दो है।', ['यह एक है।', 'वह दो है।']],
      ['en', 'no marks at all', ['no marks at all']],
      ['en', '', []],
      ['en', '   ', []],
    ];
    for (const [language, text, sentences] of cases) {
      expect(await splitSentences(text, language), text).to.deep.equal(sentences);
    }
  });

  it('run over abbreviations and numbers', async () => {
    const whole = [
      'Dr. Smith paid 3.5 million.',
      'J. S. Bach wrote it.',
      'Das ist z.B. Berlin.',
      'The U.S. Army left.',
      'Mme. Curie (born in Warsaw) won.',
    ];
    for (const text of whole) expect(await splitSentences(text, 'en'), text).to.deep.equal([text]);
    expect(await splitSentences('So do I. We left.', 'en')).to.deep.equal(['So do I.', 'We left.']);
  });

  it('keep their order and the line breaks between them', async () => {
    const text = 'One. Two.\n\n  Three.\r\nFour.\n';
    const split = await splitText(text, 'en');
    expect(split.lines).to.deep.equal([['One.', 'Two.'], ['Three.'], ['Four.'], []]);
    expect(joinText(split, 'en')).to.equal(text);
    expect(joinText(await splitText('一。二。', 'zh'), 'zh')).to.equal('一。二。');
  });

  it('have their places in the text', async () => {
    const text = ' So. So.\u00a0 So! \n So. ';
    const { lines } = await splitText(text, 'en');
    const places = placesOf(lines.flat(), text);
    expect(places.map(({ start, end }) => text.slice(start, end))).to.deep.equal(['So.', 'So.', 'So!', 'So.']);
    expect(places.map(({ start }) => start)).to.deep.equal([1, 5, 10, 16]);
  });

  it('of several texts are distinguished', async () => {
    expect(await splitEach(['One. Two.', '', 'Three.'], 'en')).to.deep.equal([['One.', 'Two.'], [], ['Three.']]);
  });

  it('that are too long are cut at clause marks, then between words, then anywhere', async () => {
    const text = 'one two three, four five; six seven eight nine ten eleven';
    expect(await fitSentence(text, 'en', 5, words)).to.deep.equal([
      'one two three, four five;',
      'six seven eight nine ten',
      'eleven',
    ]);
    expect(await fitSentence('abcdefgh', 'en', 3, characters)).to.deep.equal(['abc', 'def', 'gh']);
    expect(await fitSentence('一二三，四五六', 'zh', 4, characters)).to.deep.equal(['一二三，', '四五六']);
  });

  it('of a long text are those of its parts, and are sought in short pieces', async () => {
    const part = 'How are you, Dr. Smith? I have two children and a dog. The train leaves at nine. ';
    const text = part.repeat(2000);
    // A piece takes time by the square of its length.
    const pieces = await segmentedLengths(async () => {
      const sentences = await splitSentences(text, 'en');
      expect(sentences).to.have.length(6000);
      expect(new Set(sentences)).to.deep.equal(new Set(await splitSentences(part, 'en')));
    });
    expect(Math.max(...pieces)).to.be.at.most(2000);
    expect(sum(pieces)).to.be.within(text.length, 1.1 * text.length);
  });

  it('without an end are whole, and sought in few pieces', async () => {
    const endless = 'word '.repeat(5000).trim();
    const pieces = await segmentedLengths(async () => {
      expect(await splitSentences(endless, 'en')).to.deep.equal([endless]);
    });
    expect(sum(pieces)).to.be.at.most(3 * endless.length);
  });

  it('of a long text leave the event loop its turns', async () => {
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await splitSentences('One. Two. '.repeat(640), 'en');
    isDone = true;
    expect(turns).to.be.at.least(1280 / 64 - 1);
  });

  it('lose nothing in the cut', async () => {
    const text = Array.from({ length: 500 }, (_, index) => `word${index}${index % 17 === 0 ? ',' : ''}`).join(' ');
    const parts = await fitSentence(text, 'en', 30, words);
    expect(parts.join(' ')).to.equal(text);
    expect(Math.max(...(await words(parts)))).to.be.at.most(30);
  });
});
