import { expect } from 'chai';
import type { Segment, Word } from '../../src/engine/binding.js';
import { joinTexts } from '../../src/engine/transcript-text.js';
import { placesOf, splitSentences } from '../../src/engine/translation/sentences.js';
import type { TranslatedSentence } from '../../src/engine/types.js';
import { timedSentences } from '../../src/transcription/sentence-times.js';

/** A word a second, with a pause of a tenth behind each. */
function words(text: string, from: number): Word[] {
  return (text.match(/\s*\S+/gu) ?? []).map((word, index) => ({
    text: word,
    startSeconds: from + index,
    endSeconds: from + index + 0.9,
    probability: 1,
  }));
}

function segment(text: string, startSeconds: number, endSeconds: number, aligned = false): Segment {
  const plain = { text, startSeconds, endSeconds, noSpeechProbability: 0 };
  return aligned ? { ...plain, words: words(text, startSeconds) } : plain;
}

async function timesOf(segments: Segment[], language = 'en'): Promise<[number, number, string][]> {
  const text = joinTexts(
    segments.map((one) => one.text),
    language,
  );
  const sources = await splitSentences(text, language);
  const sentences: TranslatedSentence[] = placesOf(sources, text).map((place, index) => ({
    ...place,
    text: `<${sources[index] ?? ''}>`,
  }));
  return timedSentences(sentences, { text, segments }).map(({ startSeconds, endSeconds, text: what }) => [
    startSeconds,
    endSeconds,
    what,
  ]);
}

describe('timedSentences', () => {
  it('gives a sentence the time from its first word to its last one', async () => {
    const segments = [segment(' One two. Three', 10, 13, true), segment(' four five. Six.', 20, 23, true)];
    expect(await timesOf(segments)).to.deep.equal([
      [10, 11.9, '<One two.>'],
      [12, 21.9, '<Three four five.>'],
      [22, 22.9, '<Six.>'],
    ]);
  });

  it('shares the time of a segment without words by letters', async () => {
    const times = await timesOf([segment(' Abcd. Efg hij kl.', 10, 25), segment('  ', 25, 26), segment(' M.', 30, 31)]);
    // Five of fourteen letters.
    const middle = 10 + (15 * 5) / 14;
    expect(times).to.deep.equal([
      [10, middle, '<Abcd.>'],
      [middle, 25, '<Efg hij kl.>'],
      [30, 31, '<M.>'],
    ]);
  });

  it('knows languages without spaces, whose words may be parts of one', async () => {
    const characters = Array.from('你好。再见').map((text, index) => ({
      text,
      startSeconds: index,
      endSeconds: index + 1,
      probability: 1,
    }));
    const whole = { ...segment('你好。再见', 0, 5), words: characters };
    expect(await timesOf([whole], 'zh')).to.deep.equal([
      [0, 3, '<你好。>'],
      [3, 5, '<再见>'],
    ]);
  });

  it('never decreases, and stays within the segments, whatever is said', async () => {
    const texts = ['a', 'Dr. Who?', ' no no. No!', '...', '  Yes,  ', '3.5 is it.', ' 🙂. 🙂'];
    for (let round = 0; round < 200; round++) {
      const segments = Array.from({ length: 1 + (round % 9) }, (_, index) =>
        segment(texts[(round * 7 + index * 3) % texts.length]!, index * 10, index * 10 + 4, (round + index) % 2 === 0),
      );
      let last = 0;
      for (const [start, end] of await timesOf(segments)) {
        expect(start).to.be.within(last, segments.length * 10);
        expect(end).to.be.at.least(start);
        last = end;
      }
    }
  });

  it('is empty for a transcript without text', () => {
    expect(timedSentences([], { text: '', segments: [] })).to.deep.equal([]);
  });
});
