import { expect } from 'chai';
import { seededRandom, type Random } from '../../bench/load/random.js';
import { fitLine, fitSlope, medianSlope } from '../../bench/reports/regression.js';

/** Noise whose neighbours correlate by `correlation`: a first-order autoregression. */
function noise(random: Random, count: number, correlation: number): number[] {
  const values: number[] = [];
  for (let index = 0; index < count; index++) {
    const fresh = random() + random() + random() + random() - 2;
    values.push(correlation * (values.at(-1) ?? 0) + fresh);
  }
  return values;
}

describe('A straight line through measurements', () => {
  it('is exact where the points are on one', () => {
    const points = [1, 2, 4, 8].map((x): [number, number] => [x, 100 + 3 * x]);
    expect(fitLine(points).slope).to.be.closeTo(3, 1e-9);
    expect(fitLine(points).intercept).to.be.closeTo(100, 1e-9);
    expect(fitSlope(points).margin).to.be.closeTo(0, 1e-6);
  });

  it('needs points that differ, and enough of them for a margin', () => {
    expect(() => fitLine([[1, 2]])).to.throw(RangeError);
    expect(() => fitLine([])).to.throw(RangeError);
    expect(() => fitSlope([1, 2, 3].map((x) => [x, x]))).to.throw(RangeError, '3 points');
  });

  it('has a median of slopes that a few points far off do not move', () => {
    const points = Array.from({ length: 30 }, (_, x): [number, number] => [x, 100 + 3 * x]);
    for (const index of [25, 27, 28, 29]) points[index] = [index, 10_000];
    expect(medianSlope(points)).to.be.closeTo(3, 0.5);
    expect(fitLine(points).slope).to.be.above(10);
    expect(() =>
      medianSlope([
        [1, 2],
        [1, 3],
      ]),
    ).to.throw(RangeError);
  });

  for (const correlation of [0, 0.5, 0.8]) {
    it(`has a margin that holds about 95 times of 100, with neighbours that correlate by ${correlation}`, () => {
      const random = seededRandom(11);
      const trials = 400;
      let held = 0;
      for (let trial = 0; trial < trials; trial++) {
        const points = noise(random, 300, correlation).map((error, x): [number, number] => [x, 5 + 0.01 * x + error]);
        const { slope, margin } = fitSlope(points);
        if (Math.abs(slope - 0.01) <= margin) held++;
      }
      expect(held / trials).to.be.within(0.91, 0.98);
    });
  }
});
