/** The command line, with one file for each command. Exit codes: 0 done, 1 failed, 2 wrong usage. */
import { Command } from 'commander';
import { addAccounts } from './accounts.js';
import { addBench } from './bench.js';
import { packageVersion } from '../service/context.js';
import { addCompletion } from './completion.js';
import { addCredits } from './credits.js';
import { addDatabase } from './database.js';
import { addDoctor } from './doctor.js';
import { addKeys } from './keys.js';
import { addLive } from './live.js';
import { addManPage } from './man-page.js';
import { addModels } from './models.js';
import { addOpenApi } from './openapi.js';
import { printableLines } from './printable.js';
import { addServe } from './serve.js';
import { addTranscribe } from './transcribe.js';
import { addTranslate } from './translate.js';
import { addWebhooks } from './webhooks.js';
import { inOurSpelling } from './whisper-options.js';
import { DONE, failureOf } from './words.js';

export function createProgram(): Command {
  const program = new Command('verbatim')
    .description('Self-hosted speech transcription and translation')
    .version(packageVersion())
    .showHelpAfterError('(run with --help for usage)');
  for (const add of [
    addServe,
    addTranscribe,
    addLive,
    addTranslate,
    addAccounts,
    addCredits,
    addKeys,
    addWebhooks,
    addDatabase,
    addModels,
    addDoctor,
    addOpenApi,
    addCompletion,
    addManPage,
  ])
    add(program);
  return program;
}

/** Runs one command line and resolves to its exit code; never throws. */
export async function runCli(argv: readonly string[]): Promise<number> {
  const program = createProgram();
  try {
    await addBench(program, argv);
    exitByException(program);
    await program.parseAsync(argv[2] === 'transcribe' ? inOurSpelling(argv) : argv);
    return process.exitCode === undefined ? DONE : Number(process.exitCode);
  } catch (error) {
    return report(error);
  }
}

function exitByException(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) exitByException(child);
}

function report(error: unknown): number {
  const { message, exitCode } = failureOf(error);
  if (message !== null) console.error(`verbatim: ${printableLines(message)}`);
  return exitCode;
}
