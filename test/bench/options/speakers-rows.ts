/** The options of `bench speakers`. */
import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Report } from '../../../bench/reports/report.js';
import { outputRows, refusalOf, reportOf, withDirectory, type Rows } from './running.js';

interface Answers {
  /** A speaks 0-6, B 6-10. */
  known: string;
  /** One person speaks 0-10. */
  one: string;
  /** x speaks 0-7, y 7-10. */
  late: string;
}

function answers<T>(work: (answers: Answers) => Promise<T>): Promise<T> {
  return withDirectory((directory) => {
    const folder = (name: string, ...lines: string[]): string => {
      const path = join(directory, name);
      mkdirSync(path);
      writeFileSync(join(path, 'talk.rttm'), lines.join('\n'));
      return path;
    };
    return work({
      known: folder('known', line(0, 6, 'A'), line(6, 4, 'B')),
      one: folder('one', line(0, 10, 'x')),
      late: folder('late', line(0, 7, 'x'), line(7, 3, 'y')),
    });
  });
}

const line = (start: number, seconds: number, speaker: string, recording = 'talk'): string =>
  `SPEAKER ${recording} 1 ${start} ${seconds} <NA> <NA> ${speaker} <NA> <NA>`;

function firstRow({ tables }: Report): Record<string, unknown> {
  return tables[0]?.rows[0] ?? {};
}

function scored(rttm: string, hypotheses: string): Promise<Report> {
  return reportOf(['speakers', '--rttm', rttm, '--hypotheses', hypotheses]);
}

const output = (option: string) => () =>
  answers(({ known, one }) =>
    Promise.resolve(
      outputRows('speakers', ['speakers', '--rttm', known, '--hypotheses', one])[`speakers ${option}`]?.(),
    ),
  );

export const speakersRows: Rows = {
  'speakers --rttm': () =>
    answers(async ({ known, one, late }) => {
      expect(firstRow(await scored(known, one))).to.include({ 'DER %': 40, 'one speaker, DER %': 40 });
      expect(firstRow(await scored(late, one))).to.include({ 'DER %': 30, 'one speaker, DER %': 30 });
      expect(await refusalOf('speakers', '--rttm', join(known, 'x'), '--hypotheses', one)).to.contain(
        'holds no .rttm files',
      );
    }),
  'speakers --hypotheses': () =>
    answers(async ({ known, late }) => {
      const row = firstRow(await scored(known, late));
      expect(row).to.include({ 'DER %': 10, 'confusion %': 10, 'missed %': 0, 'false alarm %': 0 });
      expect(row).to.include({ 'speakers known, told': '2, 2', 'DER %, collar 0.25 s': 8.3 });
      // A: 6 of 7; B: 3 of 4.
      expect(row['JER %']).to.equal(19.6);
      writeFileSync(join(late, 'more.rttm'), line(0, 1, 'x', 'more'));
      const unasked = await refusalOf('speakers', '--rttm', known, '--hypotheses', late);
      expect(unasked).to.contain('tells of "more"');
    }),
  'speakers --json': output('--json'),
  'speakers --output': output('--output'),
};
