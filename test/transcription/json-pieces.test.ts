import { expect } from 'chai';
import fc from 'fast-check';
import { jsonBytes, jsonText } from '../../src/transcription/json-pieces.js';
import { turnsDuring } from '../support/turns.js';

const WORDS = 30_000;

describe('JSON in pieces', () => {
  it('is what JSON.stringify() makes, whatever it is of', async () => {
    const long = fc
      .tuple(fc.array(fc.jsonValue(), { minLength: 1, maxLength: 6 }), fc.integer({ min: 250, max: 1100 }))
      .map(([elements, length]) => Array.from({ length }, (_, index) => elements[index % elements.length]));
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.jsonValue(),
        fc.constantFrom(undefined, new Date(0), Number.NaN, 'é\u2028"\ud800'),
        long,
        fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), value, { maxKeys: 5 }), async (object) => {
        const whole = JSON.stringify(object);
        expect(await jsonText(object)).to.equal(whole);
        expect((await jsonBytes(object)).equals(Buffer.from(whole))).to.equal(true);
      }),
      { numRuns: 200 },
    );
  });

  it('lets others have their turns while a long list is written, wherever it is', async () => {
    const words = Array.from({ length: WORDS }, (_, word) => ({
      word: `word${word}`,
      start: word,
      end: word + 1,
    }));
    for (const value of [{ words }, { translation: { segments: words } }, words]) {
      expect(await turnsDuring(() => jsonText(value))).to.be.at.least(100);
      expect(await turnsDuring(() => jsonBytes(value))).to.be.at.least(100);
    }
    expect(await turnsDuring(() => jsonText({ words: words.slice(0, 100) }))).to.be.at.most(2);
  });
});
