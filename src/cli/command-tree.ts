/** The commands as a person finds them by --help, for what is made from them: shell completion and the manual page. */
import type { Command, Option } from 'commander';

export interface CommandEntry {
  /** As it is typed, without the program's own name. */
  path: readonly string[];
  command: Command;
  /** The commands below it. */
  below: readonly Command[];
  options: readonly Option[];
}

/** All commands, each before those below it, the program itself first. */
export function commandTree(command: Command, path: readonly string[] = []): CommandEntry[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command).filter((child) => child.name() !== 'help');
  const entry = { path, command, below, options: help.visibleOptions(command) };
  return [entry, ...below.flatMap((child) => commandTree(child, [...path, child.name()]))];
}

/** In its one line; the first sentence of a longer one. */
export function summaryOf({ description }: { description: string }): string {
  return description.split(/[;\n]/)[0]?.trim() ?? '';
}
