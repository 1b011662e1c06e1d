/** The command line's own parser, whose commands do nothing. */
import type { Command } from 'commander';
import { addBenchCommands } from '../../../bench/index.js';
import { createProgram } from '../../../src/cli/program.js';
import { inOurSpelling } from '../../../src/cli/whisper-options.js';

/** Throws an Error that says what the parser refuses. `words`: behind the name of the program. */
export async function parseCommand(words: readonly string[]): Promise<void> {
  const argv = ['node', 'verbatim', ...words];
  const program = createProgram();
  addBenchCommands(program.command('bench'));
  const run: string[] = [];
  const refusals: string[] = [];
  every(program, (command) => {
    command.exitOverride().configureOutput({ writeErr: (text) => void refusals.push(text), writeOut: () => undefined });
    if (command.commands.length === 0) command.action(() => void run.push(command.name()));
  });
  try {
    await program.parseAsync(words[0] === 'transcribe' ? inOurSpelling(argv) : argv);
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code === 'commander.helpDisplayed' || code === 'commander.version') return;
    throw new Error(refusals.join('') || message, { cause: error });
  }
  if (run.length === 0) throw new Error(`"${words.join(' ')}" is no whole command.`);
}

function every(command: Command, use: (command: Command) => void): void {
  use(command);
  for (const child of command.commands) every(child, use);
}
