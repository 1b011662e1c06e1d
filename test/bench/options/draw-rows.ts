/** The options of the command that draws the charts of a report again. */
import { expect } from 'chai';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderSvg, type LineChart } from '../../../bench/reports/charts.js';
import { refusalOf, run, withDirectory, type Rows } from './running.js';

const CHART: LineChart = {
  ...{ kind: 'lines', name: 'rate', title: 'Throughput', x: 'slots', y: 'RTFx' },
  series: [{ name: 'one thread', points: [[1, 12.3]] }],
};

export const drawRows: Rows = {
  'draw --output': () =>
    withDirectory(async (directory) => {
      const file = join(directory, 'report.json');
      writeFileSync(file, JSON.stringify({ name: 'example', charts: [CHART] }));
      const output = join(directory, 'charts');
      const { status, stdout } = await run(['draw', file, '--output', output]);
      expect([status, stdout]).to.deep.equal([0, `${join(output, 'example-rate.svg')}\n`]);
      expect(readdirSync(output)).to.deep.equal(['example-rate.svg']);
      expect(readFileSync(join(output, 'example-rate.svg'), 'utf8')).to.equal(renderSvg(CHART));
      writeFileSync(file, JSON.stringify({ name: '../example', charts: [CHART] }));
      expect(await refusalOf('draw', file)).to.contain(`${file} is no report`);
      expect(await refusalOf('draw', join(directory, 'nothing.json'))).to.contain('nothing.json');
    }),
};
