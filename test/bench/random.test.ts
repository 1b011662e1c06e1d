import { expect } from 'chai';
import { pick, poissonArrivals, seededRandom, shuffled } from '../../bench/load/random.js';

describe('Random load', () => {
  it('is the same for the same seed, and another for another', () => {
    const take = (seed: number): number[] => poissonArrivals(seededRandom(seed), 5, 10);
    expect(take(1)).to.deep.equal(take(1));
    expect(take(1)).not.to.deep.equal(take(2));
  });

  it('is uniform between 0 and 1', () => {
    for (const seed of [0, 1, 42, 2 ** 31]) {
      const random = seededRandom(seed);
      const bins = Array.from({ length: 10 }, () => 0);
      for (let n = 0; n < 20_000; n++) {
        const bin = Math.floor(random() * 10);
        bins[bin] = (bins[bin] ?? NaN) + 1;
      }
      for (const count of bins) expect(count).to.be.within(1800, 2200);
    }
  });

  it('arrives as a Poisson process: ascending, at the rate, mean and deviation of the gaps alike', () => {
    const times = poissonArrivals(seededRandom(3), 20, 1000);
    const gaps = times.map((time, index) => time - (times[index - 1] ?? 0));
    expect(Math.min(...gaps)).to.be.at.least(0);
    expect(times.at(-1)).to.be.below(1000);
    expect(times.length).to.be.within(19_400, 20_600);
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
    expect(Math.sqrt(variance) / mean).to.be.closeTo(1, 0.05);
  });

  it('refuses a rate that is none, and picks among what is there', () => {
    expect(() => poissonArrivals(seededRandom(1), 0, 1)).to.throw(RangeError, 'rate is 0');
    expect(() => pick(seededRandom(1), [])).to.throw(RangeError, 'nothing');
    const random = seededRandom(9);
    const picked = new Set(Array.from({ length: 100 }, () => pick(random, ['a', 'b', 'c'])));
    expect([...picked].sort()).to.deep.equal(['a', 'b', 'c']);
  });

  it('shuffles into every order alike', () => {
    const random = seededRandom(4);
    const counts = new Map<string, number>();
    for (let n = 0; n < 6000; n++) {
      const order = shuffled(random, ['a', 'b', 'c']).join('');
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).to.deep.equal(['abc', 'acb', 'bac', 'bca', 'cab', 'cba']);
    for (const count of counts.values()) expect(count).to.be.within(880, 1120);
  });
});
