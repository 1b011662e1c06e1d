/** `verbatim man-page`: prints the manual page of all commands, in roff with the macros of man(7). */
import type { Command } from 'commander';
import { commandTree, type CommandEntry } from './command-tree.js';

export function addManPage(program: Command): void {
  program
    .command('man-page')
    .description('print the manual page: verbatim man-page | man -l -')
    .action(() => void process.stdout.write(manPage(program)));
}

export function manPage(program: Command): string {
  const [whole, ...commands] = commandTree(program);
  return [
    `.TH VERBATIM 1 "" "Verbatim ${program.version() ?? ''}" "User Commands"`,
    ...section('NAME', [`verbatim \\- ${inRoff(program.description().toLowerCase())}`]),
    ...section('SYNOPSIS', ['.B verbatim', '.I command', '[options]']),
    ...section('DESCRIPTION', [
      inRoff(
        'Transcribes and translates speech: as a server with a REST API (verbatim serve), or files on this machine',
      ),
      inRoff('(verbatim transcribe). Settings are variables of the environment; the documents list them.'),
    ]),
    ...section('OPTIONS', (whole?.options ?? []).flatMap(optionLines)),
    ...section('COMMANDS', commands.filter(({ below }) => below.length === 0).flatMap(commandLines)),
    ...section('EXIT STATUS', [
      ...item('0', 'Done.'),
      ...item('1', 'It failed; the reason is printed to standard error.'),
      ...item('2', 'The command line was wrong.'),
    ]),
    ...section('SEE ALSO', [
      '/usr/share/doc/verbatim/, where the package is installed; README.md and docs/ otherwise.',
    ]),
    '',
  ].join('\n');
}

function section(name: string, lines: readonly string[]): string[] {
  return [`.SH ${name}`, ...lines];
}

function commandLines({ path, command, options }: CommandEntry): string[] {
  return [
    `.SS "${inRoff(['verbatim', ...path].join(' '))} ${inRoff(command.usage().replace(/"/g, ''))}"`,
    ...sentence(command.description()),
    ...command.registeredArguments.flatMap((argument) => {
      return argument.description === '' ? [] : item(inRoff(`<${argument.name()}>`), argument.description);
    }),
    ...options.flatMap(optionLines),
  ];
}

function optionLines({
  flags,
  description,
  argChoices,
}: {
  flags: string;
  description: string;
  argChoices?: string[];
}) {
  const values = argChoices === undefined ? '' : ` (one of: ${argChoices.join(', ')})`;
  return item(inRoff(flags), description + values);
}

function item(head: string, text: string): string[] {
  return ['.TP', `.B ${head}`, ...sentence(text)];
}

/** Starts with a capital letter and ends with a full stop. */
function sentence(text: string): string[] {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return [inRoff(/[.!?]$/.test(whole) ? whole : `${whole}.`)];
}

/** Escapes text for roff: no line is a request, no hyphen is typographic, and all characters are ASCII. */
function inRoff(text: string): string {
  const escaped = text
    .replace(/\\/g, '\\e')
    .replace(/-/g, '\\-')
    .replace(/"/g, '\\(dq')
    .replace(/\s+/g, ' ')
    .replace(/\P{ASCII}/gu, unicode);
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}

function unicode(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `\\[u${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}
