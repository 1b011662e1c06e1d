import { expect } from 'chai';
import { eta } from '../../../../src/http/dashboard/browser/eta.js';

describe('dashboard: when a run will be done', () => {
  it('follows from how its share has grown', () => {
    let now = 1000;
    const left = eta(() => now);
    expect(left(0)).to.equal(null);
    now += 10_000;
    expect(left(0.25)).to.equal(30);
    now += 10_000;
    expect(left(0.5)).to.equal(20);
  });

  it('counts from the first report, which may come late', () => {
    let now = 0;
    const left = eta(() => now);
    expect(left(0.5)).to.equal(null);
    now += 4000;
    expect(left(0.75)).to.equal(4);
  });
});
