import type { Command } from 'commander';
import { serve } from '../service/serve.js';
import { UsageError, type Variable } from '../service/variables.js';
import { failureOf, WRONG_USAGE } from './words.js';

/** The flags of `serve`, each with the variable that it sets for this run. */
const SETTINGS = [
  { flag: '--host', value: 'host', variable: 'VERBATIM_HOST', description: 'address to listen on' },
  { flag: '--port', value: 'port', variable: 'VERBATIM_PORT', description: 'port to listen on; 0: any free port' },
  { flag: '--model', value: 'name', variable: 'VERBATIM_MODEL', description: 'an installed speech model, or bundled' },
  {
    flag: '--data-dir',
    value: 'dir',
    variable: 'VERBATIM_DATA_DIR',
    description: 'directory of the database, uploads and jobs',
  },
] as const satisfies readonly { flag: string; value: string; variable: Variable; description: string }[];

export function addServe(program: Command): void {
  const command = program.command('serve');
  for (const { flag, value, variable, description } of SETTINGS)
    command.option(`${flag} <${value}>`, `${description} (default: ${variable})`);
  command
    .description('run the service; all other settings come from the environment (see docs/settings.md)')
    .action(serveWithFlags);
}

async function serveWithFlags(_flags: unknown, command: Command): Promise<void> {
  const given = SETTINGS.filter(({ flag }) => valueOf(command, flag) !== undefined);
  try {
    await serve(Object.fromEntries(given.map(({ flag, variable }) => [variable, valueOf(command, flag) ?? ''])));
  } catch (error) {
    throw withFlagNames(error, given);
  }
}

function valueOf(command: Command, flag: string): string | undefined {
  const option = command.options.find(({ long }) => long === flag);
  return option === undefined ? undefined : (command.getOptionValue(option.attributeName()) as string | undefined);
}

/**
 * Messages name the variable that has a wrong value. If the value came from a flag, replaces the variable's name with
 * the flag's.
 */
function withFlagNames(error: unknown, given: readonly { flag: string; variable: string }[]): unknown {
  const { message, exitCode } = failureOf(error);
  if (message === null) return error;
  const renamed = given.reduce(
    (text, { flag, variable }) => text.replace(new RegExp(`\\b${variable}\\b`, 'g'), flag),
    message,
  );
  if (renamed === message) return error;
  return exitCode === WRONG_USAGE ? new UsageError(renamed) : new Error(renamed, { cause: error });
}
