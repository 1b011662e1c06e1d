import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describeEnvironment } from '../../bench/reports/environment.js';
import { rounded, toMarkdown, withSpread, writeReport, type Report } from '../../bench/reports/report.js';

const report: Report = {
  name: 'example',
  title: 'An example',
  environment: describeEnvironment(join(__dirname, '..', '..')),
  models: [{ name: 'base', sha256: 'ab'.repeat(32) }],
  settings: { clients: 8, language: null },
  warmUp: 'one pass',
  runs: 3,
  tables: [{ title: 'Cells', rows: [{ name: 'a|b', RTFx: 12.3 }] }],
  charts: [
    {
      ...{ kind: 'lines', name: 'rate', title: 'Throughput', x: 'slots', y: 'RTFx' },
      series: [{ name: 'one thread', points: [[1, 12.3]] }],
    },
  ],
  notes: ['A note.'],
  measurements: [{ rtfx: [12.2, 12.3, 12.9] }],
};

describe('A report', () => {
  it('says machine, load, commit, model, settings, warm-up and runs', () => {
    const text = toMarkdown(report);
    expect(text).to.match(/Machine: \d+ x .+, [\d.]+ GiB, load [\d.]+ at the start, Node v\d+/);
    expect(text).to.match(/Commit ([0-9a-f]{12}\+?|unknown), 20/);
    expect(text).to.contain('Model base, SHA-256 abababababababab');
    expect(text).to.contain('Settings: clients 8, language -');
    expect(text).to.contain('Warm-up: one pass; 3 measurements a cell');
  });

  it('aligns numbers and keeps bars in cells from parting them', () => {
    expect(toMarkdown(report)).to.contain('| name | RTFx |\n| --- | ---: |\n| a\\|b | 12.3 |');
  });

  it('is written as JSON with every measurement, as Markdown, and as charts that the Markdown shows', () => {
    const directory = mkdtempSync(join(tmpdir(), 'verbatim-report-'));
    try {
      const paths = writeReport(join(directory, 'new'), report);
      expect(paths.map((path) => basename(path))).to.deep.equal(['example.json', 'example.md', 'example-rate.svg']);
      expect(JSON.parse(readFileSync(paths[0] ?? '', 'utf8'))).to.deep.equal(report);
      const markdown = readFileSync(paths[1] ?? '', 'utf8');
      expect(markdown).to.contain(toMarkdown(report)).and.to.contain('![Throughput](example-rate.svg)');
      expect(readFileSync(paths[2] ?? '', 'utf8')).to.match(/^<svg [^]*>Throughput<[^]*<\/svg>$/);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('rounds to three digits', () => {
    expect([1234.5, 12.345, 0.012345, 0, -4.567].map(rounded)).to.deep.equal([1235, 12.3, 0.0123, 0, -4.57]);
    expect(withSpread({ median: 2.345, minimum: 2, maximum: 3 })).to.equal('2.35 (2-3)');
  });
});
