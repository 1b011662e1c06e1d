import { expect } from 'chai';
import fc from 'fast-check';
import { VerbatimError } from '../../../src/errors.js';
import { RepeatFilter } from '../../../src/engine/remote/repeat-filter.js';

/** Words of a text, reported in parts of these sizes; it may end in the middle. */
function partsOf(words: readonly string[], sizes: readonly number[]): string[][] {
  const parts: string[][] = [];
  let at = 0;
  for (const size of sizes) {
    if (at >= words.length) break;
    parts.push(words.slice(at, at + size));
    at += size;
  }
  return parts;
}

describe('A result that is reported from the start again', () => {
  it('is passed on once, whatever its parts are', () => {
    const attempt = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 10 });
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^ [a-z]{1,5}$/), { minLength: 1, maxLength: 20 }),
        fc.array(attempt, { maxLength: 5 }),
        (words, attempts) => {
          const reported = new RepeatFilter<string>();
          const recognised: string[] = [];
          let text = '';
          for (const sizes of [...attempts, words.map(() => 1)]) {
            reported.begin();
            for (const part of partsOf(words, sizes)) {
              const added = reported.add(part.join(''), part);
              text += added?.text ?? '';
              recognised.push(...(added?.items ?? []));
            }
          }
          expect(text).to.equal(words.join(''));
          expect(recognised).to.deep.equal(words);
        },
      ),
    );
  });

  it('fails the request when it is not what was reported before', () => {
    const reported = new RepeatFilter<string>();
    reported.add('Hello Emma', ['Hello Emma']);
    reported.begin();
    expect(reported.add('Hello', ['Hello'])).to.equal(null);
    expect(() => reported.add(' Anna, hi', [' Anna, hi']))
      .to.throw(VerbatimError)
      .with.property('code', 'internal_error');
  });
});
