import { expect } from 'chai';
import { planClips } from '../../bench/load/clip-mix.js';
import { seededRandom } from '../../bench/load/random.js';

const clips = ['en', 'de'].flatMap((language) =>
  Array.from({ length: 5 }, (_, number) => ({ path: `${language}-${number}.flac`, language })),
);
const mix = { count: 14, shortest: 2, longest: 28 };

describe('A mix of clips', () => {
  it('has lengths spread evenly over the range, in any order, and languages in turns', () => {
    const plans = planClips(clips, { ...mix, random: seededRandom(1) });
    const lengths = plans.map(({ duration }) => duration);
    const ascending = [...lengths].sort((a, b) => a - b);
    expect(ascending).to.deep.equal(Array.from({ length: 14 }, (_, index) => 2 + 2 * index));
    expect(lengths).not.to.deep.equal(ascending);
    for (const [index, { language, sentences, file }] of plans.entries()) {
      expect(language).to.equal(index % 2 === 0 ? 'de' : 'en');
      expect(file).to.contain(`-${language}.wav`);
      expect([...sentences].sort()).to.deep.equal([0, 1, 2, 3, 4].map((n) => `${language}-${n}.flac`));
    }
    expect(new Set(plans.map(({ sentences }) => sentences.join())).size).to.be.above(7);
  });

  it('is the same for the same seed, and needs clips that say their language', () => {
    const plan = (seed: number): unknown => planClips(clips, { ...mix, random: seededRandom(seed) });
    expect(plan(1)).to.deep.equal(plan(1));
    expect(plan(1)).not.to.deep.equal(plan(2));
    const nameless = [{ path: 'a.flac', language: null }];
    expect(() => planClips(nameless, { ...mix, random: seededRandom(1) })).to.throw(Error, 'refs.json');
  });
});
