/** The charts in the documents are those of the committed reports. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { renderSvg } from '../../bench/reports/charts.js';
import type { Report } from '../../bench/reports/report.js';
import { packageRoot } from '../../src/package-root.js';

const REPORTS = join(packageRoot, 'bench', 'results');
const CHARTS = join(packageRoot, 'docs', 'charts');

describe('The charts of the documents', () => {
  it('are drawn from the committed reports, all of them', () => {
    const drawn = readdirSync(REPORTS).flatMap((file) => {
      const { name, charts } = JSON.parse(readFileSync(join(REPORTS, file), 'utf8')) as Report;
      return charts.map((chart) => {
        const picture = `${name}-${chart.name}.svg`;
        expect(readFileSync(join(CHARTS, picture), 'utf8') === renderSvg(chart), picture).to.equal(true);
        return picture;
      });
    });
    expect(drawn).not.to.deep.equal([]);
    expect(readdirSync(CHARTS).sort()).to.deep.equal(drawn.sort());
  });
});
