/** The command line: one file a command, exit codes 0 done, 1 failed, 2 wrong usage. */
import { Command, CommanderError } from 'commander';
import { UsageError } from '../service/variables.js';
import { VerbatimError } from '../errors.js';
import { addAccounts } from './accounts.js';
import { addBench } from './bench.js';
import { packageVersion } from '../service/context.js';
import { addCredits } from './credits.js';
import { addKeys } from './keys.js';
import { addModels } from './models.js';
import { addOpenApi } from './openapi.js';
import { addServe } from './serve.js';
import { addTranscribe } from './transcribe.js';
import { addTranslate } from './translate.js';

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** Runs one command line and resolves to its exit code; never throws. */
export async function runCli(argv: readonly string[]): Promise<number> {
  const program = new Command('verbatim')
    .description('Self-hosted speech transcription and translation')
    .version(packageVersion())
    .showHelpAfterError('(run with --help for usage)');
  for (const add of [
    addServe,
    addTranscribe,
    addTranslate,
    addAccounts,
    addCredits,
    addKeys,
    addModels,
    addOpenApi,
  ])
    add(program);
  try {
    await addBench(program, argv);
    exitByException(program);
    await program.parseAsync(argv);
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
  if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE;
  const wrongInput = error instanceof VerbatimError && error.code === 'invalid_request';
  if (error instanceof UsageError || wrongInput) {
    console.error(`verbatim: ${error.message}`);
    return WRONG_USAGE;
  }
  console.error(`verbatim: ${error instanceof Error ? error.message : String(error)}`);
  return FAILED;
}
