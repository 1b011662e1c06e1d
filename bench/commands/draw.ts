import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { writeCharts, type Report } from '../reports/report.js';

interface Options {
  output: string;
}

export function addBenchDraw(bench: Command): void {
  bench
    .command('draw')
    .description('the charts of a report that was written before, without a measurement')
    .argument('<file>', 'the JSON of a report, as --output and --json of the other commands write it')
    .option('--output <dir>', 'write the charts there (SVG)', '.')
    .action((file: string, { output }: Options) => {
      for (const path of writeCharts(output, readReport(file))) console.log(path);
    });
}

type DrawnReport = Pick<Report, 'name' | 'charts'>;

function readReport(file: string): DrawnReport {
  const report = JSON.parse(readFileSync(file, 'utf8')) as Partial<DrawnReport> | null;
  const { name, charts } = report ?? {};
  if (typeof name !== 'string' || !/^[\w-]+$/.test(name) || !Array.isArray(charts))
    throw new Error(`${file} is no report: it lacks a name, or a list of charts.`);
  return { name, charts };
}
