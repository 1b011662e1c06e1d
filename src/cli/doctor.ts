import type { Command } from 'commander';
import { examineThisMachine } from '../service/doctor/doctor.js';
import type { Finding } from '../service/doctor/finding.js';
import { printable, printableLines } from './printable.js';
import { DONE, FAILED } from './words.js';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .option('--json', 'print JSON')
    .description(
      'check this machine: processor, graphics cards, memory, directories, ffmpeg, models, network and clock; what ' +
        'the service will use, why, and what would make it faster. Exit code 1: something does not work',
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      const findings = await examineThisMachine();
      if (json) console.log(printableLines(JSON.stringify(findings, null, 2)));
      else for (const line of findings.flatMap(linesOf)) console.log(printable(line));
      process.exitCode = findings.some(({ state }) => state === 'problem') ? FAILED : DONE;
    });
}

const MARKS: Readonly<Record<Finding['state'], string>> = { ok: 'ok     ', advice: 'advice ', problem: 'PROBLEM' };

function linesOf({ topic, state, found, remedy }: Finding): string[] {
  const line = `${MARKS[state]}  ${topic}: ${found}`;
  return remedy === null ? [line] : [line, `         -> ${remedy}`];
}
