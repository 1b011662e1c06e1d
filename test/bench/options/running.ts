/** Bench commands in this very process, with the parts of a user or with those that only record. */
import { expect } from 'chai';
import { Command } from 'commander';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addBenchCommands } from '../../../bench/index.js';
import { BENCH_PARTS } from '../../../bench/commands/parts.js';
import type { Report } from '../../../bench/reports/report.js';
import { failureOf } from '../../../src/cli/words.js';
import { captured, type CommandResult } from '../../support/cli.js';
import { recordingParts, type Calls } from './recording-parts.js';

/** By option: "engine --slots". */
export type Rows = Record<string, () => Promise<void>>;

/** A run of a command whose long parts only recorded what they were asked. */
export interface Recorded {
  report: Report;
  calls: Calls;
}

export function benchProgram(parts = BENCH_PARTS): Command {
  const bench = new Command('bench');
  addBenchCommands(bench, parts);
  for (const command of [bench, ...bench.commands]) command.exitOverride();
  return bench;
}

export function run(
  words: readonly string[],
  parts = BENCH_PARTS,
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  return captured(
    async () => {
      try {
        await benchProgram(parts).parseAsync(words, { from: 'user' });
        return Number(process.exitCode ?? 0);
      } catch (error) {
        const { message, exitCode } = failureOf(error);
        if (message !== null) process.stderr.write(`${message}\n`);
        return exitCode;
      }
    },
    { VERBATIM_DEVICE: 'cpu', VERBATIM_ACCEL: 'off', ...environment },
  );
}

/** Of a command that succeeds. */
export async function reportOf(
  words: readonly string[],
  parts = BENCH_PARTS,
  environment: Readonly<Record<string, string>> = {},
): Promise<Report> {
  const { status, stdout, stderr } = await run([...words, '--json'], parts, environment);
  expect(status, stderr).to.equal(0);
  return JSON.parse(stdout) as Report;
}

export async function recorded(...words: string[]): Promise<Recorded> {
  const { parts, calls } = recordingParts();
  return { report: await reportOf(words, parts), calls };
}

/** What is seen of a run without the option, and of one with it. */
export async function seen<T>(
  words: readonly string[],
  option: readonly string[],
  look: (run: Recorded) => T,
): Promise<[without: T, with_: T]> {
  return [look(await recorded(...words)), look(await recorded(...words, ...option))];
}

/** Says why, and exits with 1 or 2, before any of the long parts is asked for anything. */
export async function refusalOf(...words: string[]): Promise<string> {
  const { parts, calls } = recordingParts();
  const { status, stderr } = await run(words, parts);
  expect(status, words.join(' ')).not.to.equal(0);
  for (const [part, asked] of Object.entries(calls)) expect(asked, part).to.have.length(0);
  return stderr;
}

/** Says why the command, which does its work, exits with 1. */
export async function failureText(...words: string[]): Promise<string> {
  const { status, stderr } = await run(words);
  expect(status, words.join(' ')).to.equal(1);
  return stderr;
}

export async function withDirectory<T>(work: (directory: string) => Promise<T> | T): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-options-'));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** What every command does with its report: JSON, Markdown and charts. `--json` is in every other row, by reportOf(). */
export async function showOutput(name: string, words: readonly string[]): Promise<void> {
  const { parts } = recordingParts();
  await withDirectory(async (directory) => {
    const { name: reported } = await reportOf([...words, '--output', join(directory, 'out')], parts);
    expect(reported).to.equal(name);
    expect(readdirSync(join(directory, 'out'))).to.include.members([`${name}.json`, `${name}.md`]);
  });
  expect((await run(words, parts)).stdout).to.match(/^# /);
}
