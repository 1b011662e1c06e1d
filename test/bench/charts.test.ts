import { expect } from 'chai';
import { renderSvg } from '../../bench/reports/charts.js';

const axes = { title: 'Throughput', x: 'slots', y: 'RTFx', name: 'rate' };

describe('Charts', () => {
  it('draw a line through the points of each series, in their order, with title, axes and legend', () => {
    const svg = renderSvg({
      ...{ ...axes, kind: 'lines' },
      series: [
        {
          name: 'one thread',
          points: [
            [4, 40],
            [1, 10],
            [2, 20],
          ],
        },
        { name: 'two threads', points: [[1, 15]] },
      ],
    });
    expect(svg).to.match(/^<svg [^>]*width="720" height="420"/);
    for (const text of ['Throughput', 'slots', 'RTFx', 'one thread', 'two threads'])
      expect(svg).to.contain(`>${text}<`);
    expect(svg).not.to.contain('NaN');
    const line = /d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)" fill="none"/.exec(svg);
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0, x3 = 0, y3 = 0] = (line ?? []).slice(1).map(Number);
    expect(x1).to.be.below(x2);
    expect(x2).to.be.below(x3);
    // Ten, twenty and forty of the same unit: y grows downwards.
    expect((y1 - y3) / (y1 - y2)).to.be.closeTo(3, 0.01);
  });

  it('draw a bar for each value, with the value over it and none where it is missing', () => {
    const svg = renderSvg({
      ...{ ...axes, kind: 'bars', categories: ['auto', 'given'] },
      series: [
        { name: 'ours', values: [36.5, 41.25] },
        { name: 'theirs', values: [2.75, null] },
      ],
    });
    for (const text of ['auto', 'given', 'ours', 'theirs', '36.5', '41.25', '2.75'])
      expect(svg).to.contain(`>${text}<`);
    expect(svg).not.to.contain('NaN');
  });
});
