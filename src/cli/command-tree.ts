/** The commands that --help shows. Shell completion and the manual page are generated from them. */
import type { Command, Option } from 'commander';

export interface CommandEntry {
  /** The words to type, without the name of the program. */
  path: readonly string[];
  command: Command;
  /** Its subcommands. */
  below: readonly Command[];
  options: readonly Option[];
}

/** All commands, each before its subcommands. The program itself comes first. */
export function commandTree(command: Command, path: readonly string[] = []): CommandEntry[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command).filter((child) => child.name() !== 'help');
  const entry = { path, command, below, options: help.visibleOptions(command) };
  return [entry, ...below.flatMap((child) => commandTree(child, [...path, child.name()]))];
}

/** The description, or its first sentence. */
export function summaryOf({ description }: { description: string }): string {
  return description.split(/[;\n]/)[0]?.trim() ?? '';
}
