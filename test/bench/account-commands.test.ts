import { expect } from 'chai';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestRate } from '../../bench/load/request-rate.js';
import { bench, report } from './bench-command.js';

describe('verbatim bench, on accounts', function () {
  this.timeout(120_000);
  let directory: string;

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  it('me-usage: sets /me and /usage of a server beside a constant', async () => {
    const words = ['--rounds', '2', '--seconds', '0.2', '--connections', '2', '--rows', '50'];
    const { tables, measurements } = await report('me-usage', ...words);
    expect(tables[0]?.rows.map((row) => row['route'])).to.deep.equal(['constant', '/me', '/usage']);
    expect(tables[0]?.rows[0]?.['p99 beside it']).to.equal('1 (1-1)');
    for (const { passes } of measurements as { passes: RequestRate[] }[]) {
      expect(passes).to.have.length(2);
      for (const { perSecond, p50, p99 } of passes) {
        expect(perSecond).to.be.above(0);
        expect(p99).to.be.at.least(p50);
      }
    }
  });

  it('usage: times the calls of the ledger at each size, with books that balance', async () => {
    const { tables } = await report('usage', '--events', '10000', '--runs', '1', '--directory', directory);
    const [calls = [], sums = [], audit = []] = tables.map(({ rows }) => rows);
    expect(calls.map((row) => row['events'])).to.deep.equal([1000, 10_000]);
    for (const row of [...calls, ...sums])
      for (const [call, time] of Object.entries(row))
        if (call !== 'events') expect(time, call).to.match(/^\d+ \(\d+\)$/);
    expect(audit[0]).to.include({ events: 10_021, violations: 0 });
    expect(readdirSync(directory)).to.deep.equal([]);
    expect(await bench('usage', '--events', '10')).to.include({ status: 2 });
  });
});
