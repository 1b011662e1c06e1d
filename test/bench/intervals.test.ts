import { expect } from 'chai';
import { judge, total } from '../../bench/engine/segments.js';
import { length, outside, union } from '../../bench/reports/intervals.js';

const of = (...edges: [number, number][]): { start: number; end: number }[] =>
  edges.map(([start, end]) => ({ start, end }));

describe('Stretches of time', () => {
  it('are joined where they touch or lie in each other, and measured once', () => {
    expect(union(of([5, 6], [0, 2], [1, 3], [3, 4]))).to.deep.equal(of([0, 4], [5, 6]));
    expect(length(of([5, 6], [0, 2], [1, 3], [0, 1]))).to.equal(4);
    expect(length([])).to.equal(0);
  });

  it('lie outside of others in part', () => {
    expect(outside(of([0, 10]), of([2, 4], [9, 12]))).to.equal(7);
    expect(outside(of([0, 10]), [])).to.equal(10);
    expect(outside([], of([0, 1]))).to.equal(0);
  });

  it('are judged: what is missed, and what is let through', () => {
    const one = judge(of([1, 3], [2, 5]), of([0, 4], [6, 7]));
    expect(one).to.deep.equal({ reference: 4, missed: 1, windows: 5 });
    expect(total([one, one])).to.deep.equal({ reference: 8, missed: 2, windows: 10 });
  });
});
