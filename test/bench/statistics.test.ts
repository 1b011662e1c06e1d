import { expect } from 'chai';
import fc from 'fast-check';
import { median, pairedRatios, percentile, percentiles, summarize } from '../../bench/reports/statistics.js';

describe('Statistics of measurements', () => {
  it('takes the middle value, or the mean of the two middle ones', () => {
    expect(median([3, 1, 2])).to.equal(2);
    expect(median([4, 1, 3, 2])).to.equal(2.5);
    expect(median([7])).to.equal(7);
  });

  it('takes percentiles by nearest rank, in any order of the values', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentiles(hundred)).to.deep.equal({ p50: 50, p95: 95, p99: 99 });
    expect(percentiles([10, 20])).to.deep.equal({ p50: 10, p95: 20, p99: 20 });
    expect(percentile([5, 9], 1)).to.equal(9);
  });

  it('gives a percentile that is one of the values and has its share below it', () => {
    const values = fc.array(fc.double({ noNaN: true }), { minLength: 1 });
    const share = fc.double({ min: 0.001, max: 1, noNaN: true });
    fc.assert(
      fc.property(values, share, (list, wanted) => {
        const found = percentile(list, wanted);
        expect(list).to.include(found);
        expect(list.filter((value) => value <= found).length).to.be.at.least(wanted * list.length - 1e-9);
        expect(list.filter((value) => value < found).length).to.be.below(wanted * list.length);
      }),
    );
  });

  it('refuses what has no answer', () => {
    expect(() => median([])).to.throw(RangeError, 'no values');
    expect(() => percentile([1], 0)).to.throw(RangeError, 'above 0');
    expect(() => percentile([1], 95)).to.throw(RangeError, 'at most 1');
    expect(() => pairedRatios([1, 2], [1])).to.throw(RangeError, 'paired');
  });

  it('summarizes, and divides pair by pair', () => {
    expect(summarize([4, 2, 9])).to.deep.equal({ count: 3, median: 4, minimum: 2, maximum: 9 });
    expect(pairedRatios([10, 40], [5, 10])).to.deep.equal([2, 4]);
  });
});
